import { createServer, type Socket, connect as tcp } from 'node:net';

/** A proxy between a service and Postgres that stops transactions at chosen points. */
export interface StatementGate {
  url: string;
  /**
   * Stops the next transaction that sends `text` in front of the `number`th message of its client after the one with the
   * text, or behind its COMMIT, whose answer is withheld. Resolves when it is stopped, or with `over` when it has ended
   * before.
   */
  stopAt(text: string, number: number | 'committed'): Promise<'stopped' | 'over'>;
  /** Lets stopped transactions go on. */
  release(): void;
  close(): void;
}

interface Stop {
  text: string;
  number: number | 'committed';
  resolve: (result: 'stopped' | 'over') => void;
}

interface Passing {
  isInTransaction: boolean;
  stop: Stop | undefined;
  count: number;
  isCommitting: boolean;
}

export async function statementGate(url: string): Promise<StatementGate> {
  const target = new URL(url);
  const stops = new Set<Stop>();
  const sockets = new Set<Socket>();
  let held: (() => void)[] = [];
  const hold = (stop: Stop, goOn: () => void): void => {
    held.push(goOn);
    stop.resolve('stopped');
  };
  const server = createServer({ noDelay: true }, (near) => {
    const far = tcp({ port: Number(target.port), host: target.hostname, noDelay: true });
    const passing: Passing = { isInTransaction: false, stop: undefined, count: 0, isCommitting: false };
    near.on('data', (data) => {
      const stop = look(passing, data.toString('latin1'), stops);
      if (!stop) return void far.write(data);
      near.pause();
      hold(stop, () => {
        far.write(data);
        near.resume();
      });
    });
    far.on('data', (data) => {
      const { stop } = passing;
      if (!passing.isCommitting || !stop) return void near.write(data);
      Object.assign(passing, { stop: undefined, isCommitting: false });
      if (stop.number !== 'committed') {
        stop.resolve('over');
        return void near.write(data);
      }
      return hold(stop, () => void near.write(data));
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const through = new URL(url);
  through.host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return {
    url: through.href,
    stopAt: (text, number) => new Promise((resolve) => void stops.add({ text, number, resolve })),
    release: () => {
      const all = held;
      held = [];
      for (const goOn of all) goOn();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Follows the transaction of a connection. Returns the stop if the message is the one in front of which it stops. */
function look(passing: Passing, message: string, stops: Set<Stop>): Stop | undefined {
  if (message.includes('BEGIN')) Object.assign(passing, { isInTransaction: true, stop: undefined, count: 0 });
  const { stop } = passing;
  if (passing.isInTransaction && !stop) {
    for (const each of stops)
      if (message.includes(each.text)) {
        stops.delete(each);
        passing.stop = each;
      }
  } else passing.count++;
  if (message.includes('COMMIT') || message.includes('ROLLBACK')) {
    passing.isInTransaction = false;
    passing.isCommitting = passing.stop !== undefined;
  }
  return passing.stop && passing.count === passing.stop.number ? passing.stop : undefined;
}
