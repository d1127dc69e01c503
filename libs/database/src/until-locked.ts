import type pg from 'pg';
import { pause } from './deadline.ts';
import { isHeldText, trySessionLockText } from './lock.ts';
import { sqlState } from './sql-state.ts';

type Session = Pick<pg.Client, 'query' | 'end'>;

/** A session that changes tables. */
export interface Changing {
  client: Session;
  /** Opens another session, which reads the locks that this session waits for. */
  connect: () => Promise<Session>;
  log: (line: string) => void;
}

/**
 * Maximum wait for a lock. Other statements queue behind a statement that waits for a lock, so an attempt ends after
 * this time and lets them run. Later attempts wait longer, after long pauses, in case the lock is held for long.
 */
const [firstLockMs, laterLockMs] = [250, 2_000];
const shortAttempts = 10;
const [firstRestMs, longestRestMs] = [1_000, 30_000];
const patienceMs = 600_000;
/** A lock was not available in time, or several statements waited for each other. */
const isLocked = (error: unknown): boolean => ['55P03', '40P01'].includes(sqlState(error) ?? '');

/**
 * Waits until no other process runs migrations, and locks them for this session. If the machine of another process is
 * gone, its lock ends with its session.
 */
export async function untilAlone({ client, log }: Pick<Changing, 'client' | 'log'>): Promise<void> {
  for (let logged: string | undefined; ; await pause(firstRestMs)) {
    const { rows } = await client.query<{ is_mine: boolean }>(trySessionLockText('migrations'));
    if (rows[0]?.is_mine) return;
    const found = await client.query<{ holders: string | null }>(
      `SELECT string_agg(${sessionText}, ', ') AS holders
       FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE ${isHeldText('migrations')}`,
    );
    const holders = found.rows[0]?.holders ?? '';
    if (holders !== logged && holders !== '') log(`waits until another run of the migrations ends: ${holders}`);
    logged = holders;
  }
}

/** Runs a text that is one transaction, and repeats it for about ten minutes while others hold its locks. */
export async function untilLocked({ client, connect, log }: Changing, name: string, text: string): Promise<void> {
  const endsAt = performance.now() + patienceMs;
  let restMs = firstRestMs;
  let observer: Session | undefined;
  let logged: string | undefined;
  const pid = await processOf(client);
  try {
    for (let attempt = 1; ; attempt++) {
      const lockMs = attempt <= shortAttempts ? firstLockMs : laterLockMs;
      const looking = observer && pause(lockMs / 2).then(() => observer && holdersOf(pid, observer));
      await client.query(`SET lock_timeout = '${lockMs}ms'`);
      try {
        await client.query(text);
        return;
      } catch (error) {
        await client.query('ROLLBACK');
        if (!isLocked(error) || performance.now() >= endsAt) throw error;
      }
      const holders = (await looking) ?? '';
      if (logged === undefined || (holders !== '' && holders !== logged)) {
        log(`${name} waits for a lock that others hold${holders && `: ${holders}`}`);
        logged = holders;
      }
      observer ??= await connect().catch(() => undefined);
      await pause(restMs);
      restMs = Math.min(restMs * 1.5, longestRestMs);
    }
  } finally {
    await observer?.end().catch(() => undefined);
  }
}

/** An index, and the statement that builds it unless it exists. */
export interface ConcurrentIndex {
  index: string;
  text: string;
}

/**
 * Builds an index while others write its table. It waits for transactions that began before it, in this database, also for those
 * that only read. No other statement queues behind these waits, so one of them may take as long as all attempts of `untilLocked`
 * together. The statement fails if it is part of a transaction or of a text with several statements. An interrupted build
 * leaves an invalid index.
 */
export async function untilIndexed(
  { client, connect, log }: Changing,
  name: string,
  { index, text }: ConcurrentIndex,
): Promise<void> {
  const pid = await processOf(client);
  const observer = await connect().catch(() => undefined);
  let holders = '';
  const watch = setInterval(async () => {
    const found = observer ? await holdersOf(pid, observer) : '';
    if (found === '' || found === holders) return;
    log(`${name} waits until transactions of others end: ${found}`);
    holders = found;
  }, firstRestMs);
  try {
    await client.query(`SET lock_timeout = '${patienceMs}ms'`);
    const broken = await client.query('SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid', [
      index,
    ]);
    if (broken.rowCount) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
    await client.query(text);
  } catch (error) {
    if (!isLocked(error)) throw error;
    const others = holders || 'sessions that are unknown';
    const advice = 'Run the migrations again when these transactions have ended';
    throw new Error(`${name} waited too long for transactions of others: ${others}. ${advice}`, { cause: error });
  } finally {
    clearInterval(watch);
    await observer?.end().catch(() => undefined);
  }
}

async function processOf(client: Session): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

/** Names the sessions that hold the lock for which a session waits; empty if they are unknown. */
async function holdersOf(pid: number, observer: Session): Promise<string> {
  try {
    const { rows } = await observer.query<{ holders: string | null }>(
      `SELECT string_agg(${sessionText}, ', ' ORDER BY a.pid) AS holders
       FROM unnest(pg_blocking_pids($1)) AS b (pid) JOIN pg_stat_activity a ON a.pid = b.pid`,
      [pid],
    );
    return rows[0]?.holders ?? '';
  } catch {
    return '';
  }
}

/** The text of a row of `pg_stat_activity a`. */
const sessionText =
  "concat(coalesce(nullif(a.application_name, ''), 'a session without a name'), ' (process ', a.pid, ')')";
