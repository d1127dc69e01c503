/** Ports that stay the same from one start to the next, so that URLs stay valid. */
import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

/** The port of the last start in this home if it is free, otherwise a new one that is kept from now on. */
export async function keptPort(home: string): Promise<number> {
  const file = join(home, 'port');
  const kept = Number(await readFile(file, 'utf8').catch(() => ''));
  if (kept > 0 && (await isFree(kept))) return kept;
  const port = await freePort();
  await writeFile(file, String(port));
  return port;
}

/** Ports to choose from, below the range of ephemeral ports. */
const range = { from: 20_000, to: 32_000 };

/**
 * Each worker of the tests has a part of the range: a server that a test has killed must find its port free when it
 * starts again.
 */
function ownRange(): typeof range {
  if (process.env.VITEST === undefined) return range;
  // Each worker of Vitest gets a part of the range. Must be at least `maxWorkers` of vitest.config.ts.
  const parts = 6;
  const size = (range.to - range.from) / parts;
  const from = range.from + size * (Number(process.env.VITEST_POOL_ID ?? 0) % parts);
  return { from, to: from + size };
}

/** The last ports that this process chose. Their servers may not listen yet, so the ports look free. */
const chosen = new Set<number>();
const mostChosen = 500;

export async function freePort(): Promise<number> {
  const { from, to } = ownRange();
  for (;;) {
    const port = randomInt(from, to);
    if (chosen.has(port)) continue;
    chosen.add(port);
    const [oldest = 0] = chosen;
    if (chosen.size > mostChosen) chosen.delete(oldest);
    if (await isFree(port)) return port;
  }
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    // A client of a server that is away may try this port; its connection would keep the server open.
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => done(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => done(true)));
  });
}

/** Sends a line and returns whether the answer contains the text. */
export function answersWith(port: number, send: string, expected: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let received = '';
    const finish = (ok: boolean): void => {
      socket.destroy();
      done(ok);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => done(false));
    socket.once('connect', () => socket.write(send));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (received.includes(expected)) finish(true);
    });
  });
}
