import { createServer, type Socket, connect as tcp } from 'node:net';

/** A TCP connection in the way between a process and a server, which can fail as networks do. */
export interface Link {
  /** Nothing is forwarded, in either direction, and nothing is closed. What was sent meanwhile arrives after `heal`. */
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
  let isHeld = false;
  let delayMs = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = tcp({ port: Number(target.port), host: target.hostname, noDelay: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('data', (data) => {
        if (stranded.has(pair)) return;
        if (delayMs > 0) setTimeout(() => to.writable && to.write(data), delayMs);
        else if (!to.write(data)) from.pause();
      });
      to.on('drain', () => isHeld || from.resume());
      from.on('error', () => undefined);
      from.on('close', () => {
        pairs.delete(pair);
        // A silent connection does not say that its other end is gone.
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
      for (const [near, far] of pairs) {
        near.destroy();
        far.destroy();
      }
    },
  };
}
