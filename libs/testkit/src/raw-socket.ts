import { connect, type Socket } from 'node:net';
import type { Json } from './json.ts';

export interface RawAnswer {
  status: number;
  headers: string;
  body: string;
  json: Json;
}

/** A connection on which a test sends any bytes, valid HTTP or not. */
export class RawSocket {
  readonly #socket: Socket;
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A server may reset a misused connection.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  static open(url: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawSocket(socket)));
    });
  }

  get received(): string {
    return this.#received.toString('latin1');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(bytes: string | Uint8Array): void {
    if (!this.#isClosed) this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Sends nothing more; still reads. */
  end(): void {
    this.#socket.end();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Closes at once, optionally with a reset. */
  destroy(isReset = false): void {
    if (isReset) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  /**
   * Resolves when the received data satisfies the condition; rejects when the connection closed or the time is over.
   */
  async until(holds: (received: string) => boolean, withinMs = 120_000): Promise<void> {
    const end = Date.now() + withinMs;
    while (!holds(this.received)) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.received.slice(0, 500))}`);
      const left = end - Date.now();
      if (left <= 0) throw new Error(`only ${JSON.stringify(this.received.slice(0, 500))} within ${withinMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** The next response with a Content-Length, removed from the received data. Interim responses are skipped. */
  async answer(withinMs = 120_000): Promise<RawAnswer> {
    await this.until((received) => endOfAnswer(received) !== undefined, withinMs);
    const text = this.received;
    const end = endOfAnswer(text) ?? text.length;
    this.#received = this.#received.subarray(end);
    const answer = text.slice(0, end).replace(/^(?:HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n)+/, '');
    const [headers = '', body = ''] = split(answer);
    let json: Json;
    try {
      json = JSON.parse(Buffer.from(body, 'latin1').toString('utf8'));
    } catch {}
    return { status: Number(headers.split(' ')[1]), headers, body, json };
  }
}

/** Sends bytes on a new connection and returns the response. */
export async function rawRequest(url: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const socket = await RawSocket.open(url);
  try {
    socket.send(bytes);
    return await socket.answer();
  } finally {
    socket.destroy();
  }
}

function split(answer: string): [headers: string, body: string] {
  const at = answer.indexOf('\r\n\r\n');
  return [answer.slice(0, at), answer.slice(at + 4)];
}

function endOfAnswer(received: string): number | undefined {
  const interim = /^(?:HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n)+/.exec(received)?.[0].length ?? 0;
  const at = received.indexOf('\r\n\r\n', interim);
  if (at < 0) return undefined;
  const head = received.slice(interim, at);
  const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
  const end = at + 4 + length;
  return received.length >= end ? end : undefined;
}
