import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';

/**
 * Finds statements that were sent and have no answer, but on which Postgres does not work, because their connection broke
 * without notice. If a host or the state of a firewall is lost, the operating system reports that only after minutes, and each
 * statement would wait until its deadline.
 *
 * While a statement takes longer than a second, another connection asks Postgres what the backend of the statement does.
 * If the backend is repeatedly idle, or does not exist, the connection is closed, and the statement fails as if the
 * connection was reset. Behind a pooler the backend is not known, so statements are not checked.
 */
export interface LostStatements {
  connected(client: pg.PoolClient): void;
  /** A statement was sent. The returned function must be called when it has ended. */
  sent(client: pg.PoolClient): (isAnswered: boolean) => void;
  /** Whether the last answer on the connection is older than a statement that was lost on another connection. */
  isSuspect(client: pg.PoolClient): boolean;
  stop(): void;
}

/** A statement without an answer. Times are those of `performance.now()`. */
interface Running {
  client: pg.PoolClient;
  sentAt: number;
  /** Bytes that the connection had sent before. */
  bytesBefore: number;
  askAt: number;
  /** How many times in a row its backend was found not to work on it. */
  idle: number;
}

const lookEveryMs = 200;
/** If two checks are further apart, this process was busy or stopped. Then it first reads waiting answers. */
const stalledMs = 400;
const askAfterMs = 1_000;
const askAgainMs = 400;
/** Maximum pause between two questions about a statement that Postgres works on. */
const longestPauseMs = 5_000;
const answerMs = 2_000;
/** A backend is idle until it has received a whole statement. */
const slowestBytesPerMs = 500;
/** The answer of a statement may be on its way when its backend is found idle for the first time. */
const lostAfter = 2;

export function findLostStatements(url: string, name: string, onLost: (error: Error) => void): LostStatements {
  const running = new Map<pg.PoolClient, Running>();
  const answeredAt = new WeakMap<pg.PoolClient, number>();
  let suspectBefore = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let isPooled = false;
  let lookedAt = performance.now();
  const timer = setInterval(look, lookEveryMs).unref();

  function look(): void {
    const now = performance.now();
    const hasStalled = now - lookedAt > stalledMs;
    lookedAt = now;
    const due = [...running.values()].filter(({ askAt }) => now >= askAt);
    if (hasStalled || isAsking || isPooled || due.length === 0) return;
    isAsking = true;
    // If Postgres accepts no connection now, these statements are checked later.
    for (const one of due) one.askAt = now + askAgainMs;
    void askAbout(due)
      .catch(() => undefined)
      .finally(() => {
        isAsking = false;
      });
  }

  async function askAbout(due: readonly Running[]): Promise<void> {
    const asking = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    });
    asking.on('error', () => undefined);
    try {
      await asking.connect();
      const { rows } = await asking.query<{ pid: number; own: number; state: string | null }>(
        `SELECT p.pid, pg_backend_pid() AS own, a.state FROM unnest($1::int[]) AS p (pid)
        LEFT JOIN pg_stat_activity a ON a.pid = p.pid AND a.usename = current_user`,
        [due.map(({ client }) => pidOf(client))],
      );
      isPooled = rows.some(({ own }) => own !== pidOf(asking));
      if (isPooled) return;
      // Answers that have arrived are read first.
      await nextTurn();
      const states = new Map(rows.map(({ pid, state }) => [pid, state]));
      const lost = due.filter((one) => running.get(one.client) === one && isLost(one, states.get(pidOf(one.client))));
      if (lost.length > 0) await close(lost, asking);
    } finally {
      // `end` is not awaited, because this connection may be lost as well.
      asking.end().catch(() => undefined);
    }
  }

  /** Counts what was found about a statement. */
  function isLost(one: Running, state: string | null | undefined): boolean {
    const isIdle = (state ?? 'idle').startsWith('idle');
    const ageMs = performance.now() - one.sentAt;
    const sendingMs = (streamOf(one.client).bytesWritten - one.bytesBefore) / slowestBytesPerMs;
    one.idle = isIdle && ageMs > sendingMs + askAfterMs ? one.idle + 1 : 0;
    one.askAt = performance.now() + (isIdle ? askAgainMs : Math.min(2 * ageMs, longestPauseMs));
    return one.idle >= lostAfter;
  }

  async function close(lost: readonly Running[], asking: pg.Client): Promise<void> {
    suspectBefore = Math.max(suspectBefore, ...lost.map(({ sentAt }) => sentAt));
    for (const { client } of lost) {
      const error = new Error('connection error: Postgres does not work on a statement that was sent');
      onLost(error);
      streamOf(client).destroy(error);
    }
    // The backends do not notice that their connections broke, and may hold locks in an open transaction.
    await asking.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE pid = ANY($1::int[]) AND usename = current_user AND state LIKE 'idle%'`,
      [lost.map(({ client }) => pidOf(client))],
    );
  }

  return {
    connected: (client) => void answeredAt.set(client, performance.now()),
    sent(client) {
      const sentAt = performance.now();
      const bytesBefore = streamOf(client).bytesWritten;
      const one = { client, sentAt, bytesBefore, askAt: sentAt + askAfterMs, idle: 0 };
      running.set(client, one);
      return (isAnswered) => {
        if (isAnswered) answeredAt.set(client, performance.now());
        if (running.get(client) === one) running.delete(client);
      };
    },
    isSuspect: (client) => (answeredAt.get(client) ?? Number.POSITIVE_INFINITY) < suspectBefore,
    stop: () => clearInterval(timer),
  };
}

const pidOf = (client: pg.ClientBase): number => (client as unknown as { processID: number }).processID;

const streamOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;
