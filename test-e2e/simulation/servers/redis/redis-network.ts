import type { LogRedis } from '@natter/event-log';
import { latencyOf, type Weather } from '../../engine/faults.ts';
import { type Host, runOn } from '../../engine/hosts.ts';
import type { Scheduler } from '../../engine/scheduler.ts';
import type { RedisServer } from './redis-server.ts';

/**
 * The connection between processes and Redis, on which commands and answers can be late or lost, and which can break.
 */
export interface RedisNetwork {
  connect(host: Host): LogRedis;
  /** Redis is unreachable for this long; `whileDown` modifies it meanwhile. */
  cut(downMs: number, whileDown: () => void): void;
  /** Each command and each answer takes so much longer, for a while. */
  slow(byMs: number, forMs: number): void;
}

const commandTimeoutMs = 1_500;
const longestPauseMs = 1_000;

interface Connection {
  isUp: boolean;
  drop(): void;
  reconnect(): void;
}

export function createRedisNetwork(server: RedisServer, scheduler: Scheduler, weather: () => Weather): RedisNetwork {
  const { random } = scheduler;
  const connections = new Set<Connection>();
  let upAt = 0;
  let slowedByMs = 0;
  const latency = (): number => slowedByMs + latencyOf(random, weather());

  function connect(host: Host): LogRedis {
    const readyListeners = new Set<() => void>();
    const pending = new Set<(error: Error) => void>();
    let run: string | undefined;
    let refusesUntil = 0;
    /** Commands of a connection arrive in order. */
    let lastArrival = 0;
    /** Commands of an earlier connection are not answered on this one. */
    let incarnation = 0;

    const connection: Connection = {
      isUp: scheduler.now() >= upAt,
      drop() {
        if (host.hasCrashed) return;
        connection.isUp = false;
        incarnation++;
        run = undefined;
        for (const reject of [...pending]) reject(new Error('Connection is closed.'));
      },
      reconnect() {
        if (host.hasCrashed || scheduler.now() < upAt) return;
        connection.isUp = true;
        runOn(host, () => {
          for (const listener of readyListeners) listener();
        });
      },
    };
    connections.add(connection);
    if (!connection.isUp) scheduler.after(upAt - scheduler.now() + random.next() * 500, host, connection.reconnect);

    function command<R>(isWrite: boolean, execute: () => R): Promise<R> {
      if (host.hasCrashed) return new Promise(() => undefined);
      if (!connection.isUp) return Promise.reject(new Error("Stream isn't writeable"));
      if (scheduler.now() < refusesUntil) return Promise.reject(new Error('Redis does not answer'));
      const mine = incarnation;
      const lost = random.chance(weather().redis) ? random.pick(['command', 'answer'] as const) : undefined;
      return new Promise((resolve, reject) => {
        const settle = (work: () => void): void => {
          if (!pending.delete(fail)) return;
          stopTimeout();
          work();
        };
        const fail = (error: Error): void => settle(() => reject(error));
        pending.add(fail);
        const stopTimeout = scheduler.after(commandTimeoutMs, host, () => {
          refusesUntil = scheduler.now() + random.next() * longestPauseMs;
          fail(new Error('Command timed out'));
        });
        if (lost === 'command') return;
        const arrival = Math.max(scheduler.now() + latency(), lastArrival);
        lastArrival = arrival;
        scheduler.after(arrival - scheduler.now(), undefined, () => {
          if (mine !== incarnation || scheduler.now() < upAt) return;
          const answer = attempt(isWrite, execute);
          if (lost === 'answer') return;
          scheduler.after(latency(), host, () => {
            if (mine !== incarnation) return;
            if (answer instanceof Error) fail(answer);
            else settle(() => resolve(answer.value));
          });
        });
      });
    }

    function attempt<R>(isWrite: boolean, execute: () => R): { value: R } | Error {
      if (isWrite && server.refusesWrites) return new Error("OOM command not allowed when used memory > 'maxmemory'.");
      try {
        return { value: execute() };
      } catch (error) {
        return error as Error;
      }
    }

    const redis = {
      xrevrange: (key: string, id: string) => command(false, () => server.xentry(key, id)),
      hmget: (key: string, ...fields: string[]) => command(false, () => server.hmget(key, ...fields)),
      set: (key: string, value: string, ...options: unknown[]) =>
        command(true, () => server.set(key, value, options.includes('NX'))),
      del: (...keys: string[]) => command(true, () => server.del(...keys)),
      pipeline() {
        const asked: [string, string[]][] = [];
        return {
          hmget: (key: string, ...fields: string[]) => void asked.push([key, fields]),
          exec: () => command(false, () => asked.map(([key, fields]) => [null, server.hmget(key, ...fields)])),
        };
      },
      on: (_: string, listener: () => void) => void readyListeners.add(listener),
      off: (_: string, listener: () => void) => void readyListeners.delete(listener),
    };

    return {
      redis: redis as unknown as LogRedis['redis'],
      runId: async () => {
        run ??= await command(false, () => server.runId);
        return run;
      },
      appendScript: (keys, args) => command(true, () => server.append(keys, args)),
      rangeScript: (stream, after, { entries }) =>
        command(false, () => {
          const [isAtEnd, rows] = server.range(stream, after, entries);
          return { isAtEnd, rows };
        }),
      ephemeralScript: (keys, args) => command(true, () => server.appendEphemeral(keys, args)),
      now: () => Date.now(),
      pollScript: (keys, args) => command(true, () => server.poll(keys, args)),
      rateScript: () => Promise.reject(new Error('No simulated service counts requests')),
      isUp: () => connection.isUp,
      close: () => {
        connections.delete(connection);
        connection.drop();
      },
    };
  }

  return {
    connect,
    slow(byMs, forMs) {
      slowedByMs = byMs;
      scheduler.after(forMs, undefined, () => {
        slowedByMs = 0;
      });
    },
    cut(downMs, whileDown) {
      upAt = scheduler.now() + downMs;
      for (const connection of connections) connection.drop();
      scheduler.after(downMs / 2, undefined, whileDown);
      for (const connection of connections)
        scheduler.after(downMs + 50 + random.next() * 500, undefined, () => connection.reconnect());
    },
  };
}
