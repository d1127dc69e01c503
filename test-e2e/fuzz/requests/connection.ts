import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** The server closed the connection without an answer, or none came in time. */
export class NoAnswer extends Error {}

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * One connection with one request in flight, over a plain socket: a request need not be valid HTTP, and may be cut off.
 * Opens a new one if the last was closed.
 */
export class Connection {
  private socket: Socket | undefined;
  private readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  /** Sends the start of a request and closes the connection. */
  async sendAndLeave(bytes: Buffer, lingerMs: number): Promise<void> {
    const socket = this.socket ?? connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    this.socket = undefined;
    socket.removeAllListeners();
    await new Promise<void>((resolve) => {
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
      socket.resume();
      socket.write(bytes, () => setTimeout(() => socket.destroy(), lingerMs));
    });
  }

  exchange(bytes: Buffer, options: { isHead: boolean; timeoutMs: number }): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const socket = this.socket ?? connect({ port: this.port, host: '127.0.0.1', noDelay: true });
      this.socket = socket;
      let received: Buffer = Buffer.alloc(0);
      let isOver = false;
      const chunks: Buffer[] = [];
      let size = 0;
      let needed = 0;
      const end = (): void => {
        isOver = true;
        clearTimeout(timer);
        socket.removeAllListeners();
        socket.on('error', () => undefined);
      };
      const fail = (why: string): void => {
        if (isOver) return;
        end();
        this.close();
        reject(new NoAnswer(why));
      };
      const timer = setTimeout(() => fail(`no answer within ${options.timeoutMs} ms`), options.timeoutMs);
      const done = (answer: Answer, mayReuse: boolean): void => {
        if (isOver) return;
        end();
        if (!mayReuse || answer.headers.connection?.toLowerCase() === 'close') this.close();
        else
          socket.on('close', () => {
            if (this.socket === socket) this.socket = undefined;
          });
        resolve(answer);
      };
      const look = (isClosed: boolean): void => {
        if (size < needed && !isClosed) return;
        received = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
        chunks.splice(0, chunks.length, received);
        const parsed = parse(received, options.isHead, isClosed);
        if (typeof parsed === 'number') needed = parsed;
        else if (parsed) done(parsed, !isClosed);
        else if (isClosed) fail('the connection was closed without an answer');
      };
      socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        look(false);
      });
      socket.on('error', (error) => (size > 0 ? look(true) : fail(String(error))));
      socket.on('close', () => look(true));
      socket.write(bytes);
    });
  }

  close(): void {
    const { socket } = this;
    this.socket = undefined;
    socket?.removeAllListeners();
    socket?.on('error', () => undefined);
    socket?.destroy();
  }
}

/** The answer; the number of bytes to wait for; or undefined if that is not known yet. */
function parse(bytes: Buffer, isHead: boolean, isClosed: boolean): Answer | number | undefined {
  const headEnd = bytes.indexOf(endOfHead);
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(first.slice(9, 12));
  const start = headEnd + 4;
  if (status === 100) return parse(bytes.subarray(start), isHead, isClosed);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const answer = (body: Buffer): Answer => ({ status, headers, body });
  if (isHead || status === 204 || status === 304) return answer(Buffer.alloc(0));
  if (headers['content-length'] !== undefined) {
    const needed = start + Number(headers['content-length']);
    if (bytes.length < needed) return isClosed ? undefined : needed;
    return answer(bytes.subarray(start, needed));
  }
  if (headers['transfer-encoding'] === 'chunked') {
    const body = unchunked(bytes.subarray(start));
    return body ? answer(body) : undefined;
  }
  return isClosed ? answer(bytes.subarray(start)) : undefined;
}

function unchunked(bytes: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size) || lineEnd + 4 + size > bytes.length) return undefined;
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 4 + size;
  }
}
