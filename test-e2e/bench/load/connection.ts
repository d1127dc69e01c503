import { connect, type Socket } from 'node:net';

export interface Reply {
  status: number;
  /** Whether the answer has a `Retry-After` header. */
  hasRetryAfter: boolean;
  body: Buffer;
}

export interface Address {
  host: string;
  port: number;
}

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection with one request in flight. Node's own client costs several times as much CPU, which the
 * measured system on the same machine would lose.
 */
export class Connection {
  private socket: Socket | undefined;
  private waiting: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | undefined;
  private received: Buffer[] = [];
  private size = 0;
  private needed = 0;
  private readonly address: Address;

  constructor(address: Address) {
    this.address = address;
  }

  exchange(request: Buffer | string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.received = [];
      this.size = 0;
      this.needed = 0;
      this.socket ??= this.open();
      this.socket.write(request);
    });
  }

  close(): void {
    this.waiting = undefined;
    this.socket?.destroy();
    this.socket = undefined;
  }

  private open(): Socket {
    const socket = connect({ ...this.address, noDelay: true });
    const fail = (error?: Error): void => {
      if (this.socket === socket) this.socket = undefined;
      const { waiting } = this;
      this.waiting = undefined;
      waiting?.reject(error ?? new Error('the connection was closed before the answer'));
    };
    socket.on('error', fail);
    socket.on('close', () => fail());
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    return socket;
  }

  private take(chunk: Buffer): void {
    this.received.push(chunk);
    this.size += chunk.length;
    if (this.size < this.needed) return;
    const all = this.received.length === 1 ? chunk : Buffer.concat(this.received);
    const headEnd = all.indexOf(endOfHead);
    if (headEnd < 0) {
      this.received = [all];
      return;
    }
    const head = all.toString('latin1', 0, headEnd);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    const bodyStart = headEnd + endOfHead.length;
    if (length === undefined) {
      this.socket?.destroy(new Error(`an answer without a length: ${head}`));
      return;
    }
    this.needed = bodyStart + Number(length);
    if (all.length < this.needed) {
      this.received = [all];
      return;
    }
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.resolve({
      status: Number(head.slice(9, 12)),
      hasRetryAfter: /^retry-after:/im.test(head),
      body: all.subarray(bodyStart, this.needed),
    });
  }
}
