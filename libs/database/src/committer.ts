import { ChatError, type LogEvent } from '@natter/contracts';
import { z } from 'zod';
import { type Database, sql } from './database.ts';
import { currentDeadline, type Deadline, tooLate, withDeadline, withoutDeadline } from './deadline.ts';
import type { InsertNumbered, Numbered } from './numbered.ts';
import { isTransient } from './prepared.ts';
import { isConnectionFailure } from './sql-state.ts';
import { traced } from './trace.ts';
import { appendAndCommit, type Idempotency, type OnAppended, type OpenUnit, openUnit, replay } from './unit-of-work.ts';

/** One decided write, ready to be committed with others. Its answer is `{ id }`, the number of its first event. */
export interface Decided {
  basis: Record<string, number>;
  events: LogEvent[];
  /** Rows that carry the numbers; called with the SQL position of this item's first event before the end of the batch. */
  numbered: (fromEnd: number) => Numbered[];
  idempotency?: Idempotency | undefined;
}

interface Waiting extends Decided {
  deadline: Deadline | undefined;
  resolve: (id: number) => void;
  reject: (error: unknown) => void;
}

export type Commit = (realmId: number, decided: Decided) => Promise<number>;

const maxBatch = 100;
const maxWaiting = 5_000;
/** For writes whose caller set no deadline. */
const batchMs = 15_000;

/**
 * Commits many decided writes of a realm in one transaction, so that a realm's ceiling is batch size ÷ flush time.
 * One transaction per realm and process at a time; whoever arrives meanwhile is in the next. A batch that fails is
 * committed singly, so that one stale basis fails alone.
 */
export function createCommitter(
  database: Database,
  schema: string,
  onAppended: OnAppended,
  full: () => ChatError,
): Commit {
  const realms = new Map<number, Waiting[]>();
  const storeNumbers: InsertNumbered = (realmId, rows) => sql.unsafe`
    UPDATE ${sql.identifier([schema, 'idempotency'])} i SET first_number = n.last - r.from_end, id_offset = 0
    FROM (SELECT log.last_number(${realmId}) AS last OFFSET 0) n, json_to_recordset(${rows}::json) AS r (from_end int, user_id int, key text)
    WHERE i.realm_id = ${realmId} AND i.user_id = r.user_id AND i.key = r.key`;

  return (realmId, decided) =>
    new Promise((resolve, reject) => {
      const running = realms.get(realmId);
      const queue = running ?? [];
      if (queue.length >= maxWaiting) return reject(full());
      const deadline = currentDeadline();
      queue.push({ ...decided, deadline, events: decided.events.map(traced), resolve, reject });
      if (running) return;
      realms.set(realmId, queue);
      void withoutDeadline(() => drain(realmId, queue));
    });

  async function drain(realmId: number, queue: Waiting[]): Promise<void> {
    // One turn of the loop, so that requests that were read together are committed together.
    await new Promise(setImmediate);
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      if (batch.length === 0) continue;
      try {
        await commitBatch(realmId, batch);
      } catch (error) {
        // After a lost connection the outcome is unknown: nobody's write may be sent again from here.
        if (isOutage(error) || (batch.length === 1 && !isTransient(error))) {
          for (const item of batch) item.reject(error);
          continue;
        }
        // Who was too late ended it for the others, and is refused when the next batch is taken.
        if (batch.some(({ deadline }) => deadline?.hasEnded)) queue.unshift(...batch);
        else for (const item of batch) await commitAlone(realmId, item);
      }
    }
    realms.delete(realmId);
  }

  /** A deadlock or a lock that was not had in time is nobody's fault: it is tried again. */
  async function commitAlone(realmId: number, item: Waiting): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        if (item.deadline?.hasEnded) throw tooLate();
        return await commitBatch(realmId, [item]);
      } catch (error) {
        if (attempt >= 4 || !isTransient(error)) return item.reject(error);
      }
  }

  /** Whoever gives up first ends the batch; the others are committed without it. */
  function commitBatch(realmId: number, batch: Waiting[]): Promise<void> {
    const remainingMs = Math.min(batchMs, ...batch.map(({ deadline }) => deadline?.remainingMs() ?? batchMs));
    return withDeadline(remainingMs, () => commitWithin(realmId, batch));
  }

  async function commitWithin(realmId: number, batch: Waiting[]): Promise<void> {
    await database.connect(async (connection) => {
      const unit = openUnit(connection, realmId);
      const hasKeys = batch.some((item) => item.idempotency !== undefined);
      if (hasKeys) await connection.query(unit.begin);
      const fresh = await claimKeys(unit, batch);
      const total = fresh.reduce((sum, item) => sum + item.events.length, 0);
      let offset = 0;
      for (const item of fresh) {
        unit.work.restOn(item.basis);
        unit.events.push(...item.events);
        const fromEnd = total - offset - 1;
        unit.numbered.push(...item.numbered(fromEnd));
        if (item.idempotency) {
          const { userId, key } = item.idempotency;
          unit.numbered.push({ into: storeNumbers, row: { from_end: fromEnd, user_id: userId, key } });
        }
        offset += item.events.length;
      }
      const appended = await appendAndCommit(connection, schema, unit, hasKeys ? undefined : unit.begin);
      if (appended.entries.length > 0) withoutDeadline(() => onAppended(appended));
      let number = appended.entries[0]?.number ?? 0;
      for (const item of fresh) {
        item.resolve(number);
        number += item.events.length;
      }
    });
  }

  /** Claims the keys, sorted, before any other lock; answers those that were used before. Returns what is to be written. */
  async function claimKeys(unit: OpenUnit, batch: Waiting[]): Promise<Waiting[]> {
    const keyed = batch.filter((item) => item.idempotency !== undefined);
    if (keyed.length === 0) return batch;
    const keys = keyed
      .map((item) => item.idempotency)
      .filter((key) => key !== undefined)
      .sort((a, b) => a.userId - b.userId || (a.key < b.key ? -1 : 1));
    const table = sql.identifier([schema, 'idempotency']);
    const claimed = await unit.work.any(sql.type(z.object({ user_id: z.number(), key: z.string() }))`
      INSERT INTO ${table} AS i (realm_id, user_id, key, fingerprint)
      SELECT ${unit.realmId}, * FROM ${sql.unnest(
        keys.map((key) => [key.userId, key.key, key.fingerprint]),
        ['int4', 'text', 'text'],
      )}
      ON CONFLICT (realm_id, user_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, answer = NULL, first_number = NULL, id_offset = NULL, created_at = now()
        WHERE i.created_at < now() - interval '24 hours'
      RETURNING user_id, key`);
    const won = new Set(claimed.map((row) => `${row.user_id} ${row.key}`));
    const fresh: Waiting[] = [];
    for (const item of batch) {
      const key = item.idempotency;
      if (!key || won.has(`${key.userId} ${key.key}`)) {
        fresh.push(item);
        continue;
      }
      const row = await unit.work.one(sql.type(
        z.object({
          fingerprint: z.string(),
          answer: z.any(),
          first_number: z.number().nullable(),
          id_offset: z.number().nullable(),
        }),
      )`
        SELECT fingerprint, answer, first_number, id_offset FROM ${table} WHERE realm_id = ${unit.realmId} AND user_id = ${key.userId} AND key = ${key.key}`);
      try {
        item.resolve((replay(row, key.fingerprint) as { id: number }).id);
      } catch (error) {
        item.reject(error);
      }
    }
    return fresh;
  }
}

/** A lost connection, as `connect` throws it. A statement that was cancelled in time is not: nothing was committed. */
const isOutage = (error: unknown): boolean =>
  error instanceof ChatError && error.status >= 500 && isConnectionFailure(error.cause);

/** The longest run of waiting writes whose bases agree and whose keys are distinct. Those that are too late are refused. */
function takeBatch(queue: Waiting[]): Waiting[] {
  while (queue[0]?.deadline?.hasEnded) queue.shift()?.reject(tooLate());
  const basis = new Map<string, number>();
  const keys = new Set<string>();
  let count = 0;
  for (const item of queue.slice(0, maxBatch)) {
    // It would end the batch for the others.
    if (item.deadline?.hasEnded) break;
    const key = item.idempotency && `${item.idempotency.userId} ${item.idempotency.key}`;
    if (key !== undefined && keys.has(key)) break;
    if (Object.entries(item.basis).some(([name, version]) => (basis.get(name) ?? version) !== version)) break;
    for (const [name, version] of Object.entries(item.basis)) basis.set(name, version);
    if (key !== undefined) keys.add(key);
    count++;
  }
  return queue.splice(0, count);
}
