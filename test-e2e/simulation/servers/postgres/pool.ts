import type pg from 'pg';
import { latencyOf, type Weather } from '../../engine/faults.ts';
import type { Host } from '../../engine/hosts.ts';
import type { Scheduler } from '../../engine/scheduler.ts';
import type { Failure, PostgresServer, Result, Session } from './call.ts';
import { PostgresError } from './postgres-error.ts';

/**
 * The connection between processes and PostgreSQL, on which every message can be late, lost, or cut off from its
 * answer.
 */
interface PostgresNetwork {
  /** A pool of connections from a host, under the role of a schema. */
  pool(host: Host, role: string): pg.Pool;
  /** The cancel function for `databaseOn`. */
  cancel(client: pg.PoolClient): void;
  /** Ends all connections and refuses new ones for this long. */
  restart(downMs: number): void;
  /** Ends the connections of a host that crashed. */
  drop(host: Host): void;
}

/** The fault of one message exchange. */
interface Fate {
  /** The connection breaks: before the server receives the message, or with the answer. */
  cut?: 'before' | 'after';
  failure?: Failure;
  /** The backend hangs before it executes. */
  stallMs?: number;
}

/** Errors that are independent of the statement, as from a server in trouble. */
const troubles: [string, string][] = [
  ['40001', 'could not serialize access'],
  ['40P01', 'deadlock detected'],
  ['55P03', 'canceling statement due to lock timeout'],
  ['53100', 'could not extend file: No space left on device'],
  ['25006', 'cannot execute in a read-only transaction'],
  ['57014', 'canceling statement due to user request'],
  ['58030', 'could not read block: Input/output error'],
];

const refusedLogins: [string, string][] = [
  ['53300', 'too many clients'],
  ['28P01', 'password authentication failed'],
];

interface Client {
  host: Host;
  isBroken: boolean;
  session: Session;
  /** Breaks the connection; pending requests fail. */
  break(error: Error): void;
  /** Closes it from the client side; no request is pending. */
  close(): void;
  cancel(): void;
}

export function createPostgresNetwork(server: PostgresServer, scheduler: Scheduler, weather: () => Weather) {
  const { random } = scheduler;
  const clients = new Set<Client>();
  let upAt = 0;
  const latency = (): number => latencyOf(random, weather());
  const cutError = (): Error => new Error('Connection terminated unexpectedly');

  function fate(): Fate {
    if (!random.chance(weather().postgres)) return {};
    const [code, message] = random.pick(troubles);
    return random.pick<() => Fate>([
      () => ({ cut: 'before' }),
      () => ({ cut: 'after' }),
      () => ({ failure: { at: random.below(6), error: new PostgresError(code, message) } }),
      () => ({ stallMs: random.pick([50, 400, 3_000]) * random.next() }),
    ])();
  }

  function openClient(host: Host, role: string, onIdleError: (error: Error) => void) {
    const session = server.open(role);
    const listeners = new Set<(error: Error) => void>();
    let rejectPending: ((error: Error) => void) | undefined;
    let cancelStall: (() => void) | undefined;

    const client: Client = {
      host,
      isBroken: false,
      session,
      break(error) {
        if (client.isBroken) return;
        client.close();
        rejectPending?.(error);
        if (listeners.size === 0) onIdleError(error);
        for (const listener of listeners) listener(error);
      },
      close() {
        client.isBroken = true;
        clients.delete(client);
        scheduler.after(latency(), undefined, () => session.close());
      },
      cancel() {
        scheduler.after(latency(), undefined, () => {
          cancelStall?.();
          session.cancel();
        });
      },
    };
    clients.add(client);

    function send(text: string, parameters: readonly unknown[]): Promise<Result[]> {
      if (host.hasCrashed) return new Promise(() => undefined);
      if (client.isBroken)
        return Promise.reject(new Error('Client has encountered a connection error and is not queryable'));
      const { cut, failure, stallMs } = fate();
      return new Promise((resolve, reject) => {
        const settle = (work: () => void): void => {
          scheduler.after(latency(), host, () => {
            if (client.isBroken) return;
            rejectPending = undefined;
            work();
          });
        };
        rejectPending = reject;
        if (cut === 'before') return settle(() => cutOff(reject));
        const execute = (): void => {
          cancelStall = undefined;
          session.execute(text, parameters, failure).then(
            (results) => settle(() => (cut === 'after' ? cutOff(reject) : resolve(results))),
            (error) => settle(() => (cut === 'after' ? cutOff(reject) : reject(error))),
          );
        };
        const stop = scheduler.after(latency() + (stallMs ?? 0), undefined, execute);
        cancelStall = () => {
          stop();
          cancelStall = undefined;
          failStalled(settle, reject);
        };
      });
    }

    function cutOff(reject: (error: Error) => void): void {
      reject(cutError());
      client.break(cutError());
    }

    /** A cancelled statement aborts its transaction. */
    function failStalled(settle: (work: () => void) => void, reject: (error: Error) => void): void {
      const error = new PostgresError('57014', 'canceling statement due to user request');
      session.execute('SELECT log.check_deadline(0)', [], { at: 0, error }).catch(() => settle(() => reject(error)));
    }

    return { client, session, listeners, send };
  }

  function pool(host: Host, role: string): pg.Pool {
    const idle: PoolClient[] = [];
    const errorListeners: ((error: Error) => void)[] = [];
    let total = 0;
    type PoolClient = ReturnType<typeof makeClient>;

    function makeClient() {
      const { client, session, listeners, send } = openClient(host, role, (error) => {
        for (const listener of errorListeners) listener(error);
      });
      total++;
      const made = {
        client,
        query: async (statement: string | { text: string; values: unknown[] }) => {
          if (typeof statement !== 'string') return (await send(statement.text, statement.values))[0];
          const results = await send(statement, []);
          return results.length === 1 ? results[0] : results;
        },
        getTransactionStatus: () => session.status,
        on: (_: string, listener: (error: Error) => void) => void listeners.add(listener),
        off: (_: string, listener: (error: Error) => void) => void listeners.delete(listener),
        end: async () => client.break(cutError()),
        release: (isDestroyed?: boolean) => {
          if (client.isBroken || isDestroyed) {
            total--;
            if (!client.isBroken) client.close();
          } else idle.push(made);
        },
      };
      return made;
    }

    const connect = (): Promise<PoolClient> =>
      new Promise((resolve, reject) => {
        for (let known = idle.pop(); known; known = idle.pop()) {
          if (!known.client.isBroken) return resolve(known);
          total--;
        }
        scheduler.after(latency() * 2, host, () => {
          if (scheduler.now() < upAt) reject(new PostgresError('ECONNREFUSED', 'connect ECONNREFUSED'));
          else if (random.chance(weather().postgres / 4)) reject(new PostgresError(...random.pick(refusedLogins)));
          else resolve(makeClient());
        });
      });

    return {
      connect,
      on: (_: string, listener: (error: Error) => void) => void errorListeners.push(listener),
      end: async () => undefined,
      get totalCount() {
        return total;
      },
      get idleCount() {
        return idle.length;
      },
    } as unknown as pg.Pool;
  }

  return {
    pool,
    cancel: (client: pg.PoolClient) => (client as unknown as { client: Client }).client.cancel(),
    restart(downMs: number) {
      upAt = scheduler.now() + downMs;
      for (const client of [...clients]) {
        client.session.close();
        scheduler.after(latency(), client.host, () => client.break(cutError()));
      }
    },
    drop(host: Host) {
      for (const client of [...clients]) if (client.host === host) client.close();
    },
  } satisfies PostgresNetwork;
}
