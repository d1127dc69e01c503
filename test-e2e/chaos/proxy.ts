import { createServer, type Socket, connect as tcp } from 'node:net';

/** A TCP connection in the way between a process and a server, which can fail as networks do. */
export interface Link {
  /** Forwards no data in either direction, and closes no connection. Data sent meanwhile arrives after `heal`. */
  hold(): void;
  /** Connections that are open now stay open and silent; new ones work. `heal` resets them. */
  strand(): void;
  /** Each piece of data arrives later. */
  delay(ms: number): void;
  heal(): void;
  close(): void;
  url: string;
}

/** `url` with this proxy as its host. */
export async function proxyTo(url: string): Promise<Link> {
  const target = new URL(url);
  const pairs = new Set<readonly [Socket, Socket]>();
  const stranded = new Set<readonly [Socket, Socket]>();
  const lines = new Set<DelayLine>();
  let isHeld = false;
  let delayMs = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = tcp({ port: Number(target.port), host: target.hostname, noDelay: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      const line = delayLine(to);
      lines.add(line);
      from.on('data', (data) => {
        if (!stranded.has(pair) && !line.send(data, delayMs)) from.pause();
      });
      to.on('drain', () => isHeld || from.resume());
      from.on('error', () => undefined);
      from.on('close', () => {
        pairs.delete(pair);
        lines.delete(line);
        // A stranded connection does not forward that its other end was closed.
        if (!stranded.has(pair)) setTimeout(() => to.destroy(), delayMs);
      });
      if (isHeld) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(typeof address === 'object' ? address?.port : 0);
  return {
    url: through.href,
    hold() {
      isHeld = true;
      for (const [near, far] of pairs) {
        near.pause();
        far.pause();
      }
    },
    strand() {
      for (const pair of pairs) stranded.add(pair);
    },
    delay(ms) {
      delayMs = ms;
    },
    heal() {
      isHeld = false;
      delayMs = 0;
      for (const line of lines) line.flush();
      for (const [near, far] of pairs) {
        near.resume();
        far.resume();
      }
      for (const [near, far] of stranded) {
        near.destroy();
        far.destroy();
      }
      stranded.clear();
    },
    close() {
      server.close();
      for (const [near, far] of [...pairs, ...stranded]) {
        near.destroy();
        far.destroy();
      }
    },
  };
}

interface DelayLine {
  /** Returns false if the sender has to wait for `drain`. */
  send(data: Buffer, delayMs: number): boolean;
  /** Forwards what waits. */
  flush(): void;
}

/** Forwards data in the order in which it came, also where the delay changes: TCP never reorders. */
function delayLine(to: Socket): DelayLine {
  interface Piece {
    data: Buffer;
    timer?: NodeJS.Timeout;
  }
  const waiting: Piece[] = [];
  const write = (data: Buffer): boolean => !to.writable || to.write(data);
  const sendFirst = (count: number): void => {
    for (const { data, timer } of waiting.splice(0, count)) {
      clearTimeout(timer);
      write(data);
    }
  };
  const flush = (): void => sendFirst(waiting.length);
  return {
    send(data, delayMs) {
      if (delayMs > 0) {
        const piece: Piece = { data };
        piece.timer = setTimeout(() => sendFirst(waiting.indexOf(piece) + 1), delayMs);
        waiting.push(piece);
        return true;
      }
      flush();
      return write(data);
    },
    flush,
  };
}
