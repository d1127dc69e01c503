import { readFileSync } from 'node:fs';
import { type Command, Redis } from 'ioredis';
import { createSharedClock } from './shared-clock.ts';

/** Scripts by file name in `lua/`. */
const script = (name: string): string => readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8');

export interface LogRedis {
  redis: Redis;
  /** Identifies the Redis process. A new process may have lost ids that were assigned. */
  runId(): Promise<string>;
  /** Answers with status and number, and the place of the entry before the first one that was added. */
  appendScript(
    realmKeys: [string, string],
    args: (string | number)[],
  ): Promise<[status: string, number: number, before: number, n: number]>;
  /** Entries of a stream after an id, up to a number of entries and about this many bytes. `isAtEnd`: there are no more. */
  rangeScript(
    stream: string,
    after: string,
    limits: { entries: number; bytes: number },
  ): Promise<{ rows: [id: string, fields: string[]][]; isAtEnd: boolean }>;
  ephemeralScript(realmKeys: [string, string], args: (string | number)[]): Promise<number[]>;
  /**
   * Numbers a poll of a queue for its owner. Returns the cached record, the poll's number, and the process of the
   * previous poll.
   */
  pollScript(
    keys: [string, string],
    args: [userId: number, by: string, secondsToLive: number],
  ): Promise<[string | null, number, string | null]>;
  /**
   * Spends a weight from budgets. `args`: the weight, then limit and seconds to live of each budget. Returns the amount
   * spent of the first budget, and which budget refused.
   */
  rateScript(keys: readonly string[], args: readonly number[]): Promise<[number, number, ...number[]]>;
  /**
   * Milliseconds of the clock of Redis, which all processes share: the wall clocks of their machines may differ. The
   * clock of this machine until Redis has answered once.
   */
  now(): number;
  isUp(): boolean;
  close(): void;
}

const commandTimeoutMs = 1_500;
const pingMs = 1_000;
/** Interval for reading the clock of Redis. */
const clockMs = 10_000;
/** Minimum time between two connections that are left because their server is a replica. */
const replicaMs = 5_000;

/**
 * After a command timed out, commands fail at once until a ping is answered: a hanging Redis must not delay every
 * request by the time-out. Callers continue without Redis.
 *
 * A connection to a server that became a replica is left: after a failover the address may belong to another server, while
 * the old one stays connected and refuses all writes.
 */
class PausingRedis extends Redis {
  #isPaused = false;
  #staysUntil = 0;

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    // The handshake of a new connection is never rejected.
    if (this.#isPaused && this.status === 'ready' && command.name !== 'ping') {
      command.reject(new Error('Redis does not answer'));
      return command.promise;
    }
    command.promise.then(
      () => {
        this.#isPaused = false;
      },
      (error: unknown) => {
        if (!(error instanceof Error)) return;
        if (error.message === 'Command timed out') this.#isPaused = true;
        else if (error.message.startsWith('READONLY')) this.#leaveReplica();
      },
    );
    return super.sendCommand(command, stream);
  }

  #leaveReplica(): void {
    if (this.status !== 'ready' || performance.now() < this.#staysUntil) return;
    this.#staysUntil = performance.now() + replicaMs * (0.8 + Math.random() * 0.4);
    this.disconnect(true);
  }
}

/** A connection that reconnects forever, fails commands fast while it is down, and never blocks. */
export function connectRedis(url: string, onChange: (state: 'up' | 'away', error?: Error) => void): LogRedis {
  const redis: Redis = new PausingRedis(url, {
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    enableOfflineQueue: false,
    connectTimeout: 3_000,
    socketTimeout: 10_000,
    commandTimeout: commandTimeoutMs,
    keepAlive: 5_000,
    retryStrategy: (times) => Math.min(50 * times, 500) + Math.random() * 100,
    // Commands of one turn of the event loop are sent in one write. A long range does not delay the others.
    enableAutoPipelining: true,
    autoPipeliningIgnoredCommands: ['natterRange', 'ping'],
    scripts: {
      natterAppend: { lua: script('append'), numberOfKeys: 2 },
      natterRange: { lua: script('range'), numberOfKeys: 0 },
      natterEphemeral: { lua: script('append-ephemeral'), numberOfKeys: 2 },
      natterRate: { lua: script('rate') },
      natterPoll: { lua: script('poll'), numberOfKeys: 2 },
    },
  });
  let run: string | undefined;
  let lastError: Error | undefined;
  const ping = setInterval(() => void redis.ping().catch(() => undefined), pingMs);
  ping.unref();
  const clock = createSharedClock(async () => {
    const usec = /server_time_usec:(\d+)/.exec(await redis.info('server'))?.[1];
    return usec === undefined ? undefined : Number(usec) / 1_000;
  });
  const readClock = (): void => void clock.read().catch(() => undefined);
  const clockTimer = setInterval(readClock, clockMs);
  clockTimer.unref();
  redis.on('error', (error) => {
    lastError = error;
  });
  redis.on('ready', () => {
    run = undefined;
    clock.forget();
    readClock();
    onChange('up');
  });
  redis.on('close', () => onChange('away', lastError));
  const scripted = redis as Redis &
    Record<
      'natterAppend' | 'natterRange' | 'natterEphemeral' | 'natterPoll' | 'natterRate',
      (...args: (string | number)[]) => Promise<unknown>
    >;
  return {
    redis,
    runId: async () => {
      run ??= /run_id:(\w+)/.exec(await redis.info('server'))?.[1] ?? '';
      return run;
    },
    appendScript: async (keys, args) =>
      (await scripted.natterAppend(...keys, ...args)) as [string, number, number, number],
    rangeScript: async (stream, after, { entries, bytes }) => {
      const answer = (await scripted.natterRange(stream, after, entries, bytes)) as [number, [string, string[]][]];
      return { rows: answer[1], isAtEnd: answer[0] === 1 };
    },
    ephemeralScript: async (keys, args) => (await scripted.natterEphemeral(...keys, ...args)) as number[],
    pollScript: async (keys, args) =>
      (await scripted.natterPoll(...keys, ...args)) as [string | null, number, string | null],
    rateScript: async (keys, args) =>
      (await scripted.natterRate(keys.length, ...keys, ...args)) as [number, number, ...number[]],
    now: clock.now,
    isUp: () => redis.status === 'ready',
    close: () => {
      clearInterval(ping);
      clearInterval(clockTimer);
      redis.disconnect();
    },
  };
}
