import { ChatError, type LogEvent } from '@natter/contracts';
import { type Claim, insertNumberedAnswers, numberedAnswer } from './claim.ts';
import type { Database } from './database.ts';
import { currentDeadline, type Deadline, tooLate, withDeadline, withoutDeadline } from './deadline.ts';
import type { Numbered } from './numbered.ts';
import { sharedPatience } from './patience.ts';
import { isTransient } from './prepared.ts';
import { isConnectionFailure, isRefusedForNow } from './sql-state.ts';
import { traced } from './trace.ts';
import { appendAndCommit, type OnAppended, openUnit } from './unit-of-work.ts';

/** One decided write, ready to be committed with others. */
export interface Decided {
  basis: Record<string, number>;
  events: LogEvent[];
  /** Rows that contain log numbers. `fromEnd` is the distance of this item's first event from the end of the batch. */
  numbered: (fromEnd: number) => Numbered[];
}

/** A decided write and the answer of its request. */
export interface Answered<N extends string = string, R extends object = object> extends Decided {
  /** `rest`, plus the number of the first event under the name `named`. */
  answer: { named: N; rest: R };
  claim: Claim | undefined;
}

interface Waiting extends Answered {
  deadline: Deadline | undefined;
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
}

/** Returns the answer of the request. Throws `KeyTaken` if the key of `claim` has an answer. */
export type Commit = <N extends string, R extends object>(
  realmId: number,
  decided: Answered<N, R>,
) => Promise<R & Record<N, number>>;

const maxBatch = 100;
const maxWaiting = 5_000;
/** Deadline of writes whose caller set none. */
const batchMs = 15_000;

/**
 * Commits many decided writes of a realm in one transaction, so that a realm's maximum rate is batch size ÷ flush time.
 * At most one transaction per realm and process runs at a time; writes that arrive meanwhile join the next. A failed
 * batch is committed one by one, so that only writes with outdated versions fail.
 */
export function createCommitter(
  database: Database,
  schema: string,
  onAppended: OnAppended,
  full: () => ChatError,
): Commit {
  const realms = new Map<number, Waiting[]>();
  const insertAnswers = insertNumberedAnswers(schema);

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
    // Waits one turn of the event loop, so that requests that were read together are committed together.
    await new Promise(setImmediate);
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      if (batch.length === 0) continue;
      try {
        await commitBatch(realmId, batch);
      } catch (error) {
        // After a lost connection the outcome is unknown, so no write may be repeated here. A server that refuses one
        // write refuses all.
        if (isOutage(error) || (batch.length === 1 && !isTransient(error))) {
          for (const item of batch) item.reject(error);
          continue;
        }
        // A write reached its deadline and aborted the batch; it is refused when the next batch is taken.
        if (batch.some(({ deadline }) => deadline?.hasEnded)) queue.unshift(...batch);
        else for (const item of batch) await commitAlone(realmId, item);
      }
    }
    realms.delete(realmId);
  }

  /** Deadlocks and lock time-outs are not caused by the write: it is repeated. */
  async function commitAlone(realmId: number, item: Waiting): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        if (item.deadline?.hasEnded) throw tooLate();
        return await commitBatch(realmId, [item]);
      } catch (error) {
        if (attempt >= 4 || !isTransient(error)) return item.reject(error);
      }
  }

  /** The earliest deadline aborts the batch; the others are then committed without that write. */
  function commitBatch(realmId: number, batch: Waiting[]): Promise<void> {
    const remainingMs = Math.min(batchMs, ...batch.map(({ deadline }) => deadline?.remainingMs() ?? batchMs));
    const patience = sharedPatience(batch.flatMap(({ deadline }) => deadline?.patience ?? []));
    return withDeadline(remainingMs, () => commitWithin(realmId, batch), patience);
  }

  async function commitWithin(realmId: number, batch: Waiting[]): Promise<void> {
    await database.connect(async (connection) => {
      const unit = openUnit(connection, realmId);
      const total = batch.reduce((sum, item) => sum + item.events.length, 0);
      let offset = 0;
      for (const item of batch) {
        unit.work.restOn(item.basis);
        unit.events.push(...item.events);
        const fromEnd = total - offset - 1;
        unit.numbered.push(...item.numbered(fromEnd));
        if (item.claim) {
          const row = numberedAnswer(item.claim, fromEnd, item.answer.named, item.answer.rest);
          unit.numbered.push({ into: insertAnswers, row });
        }
        offset += item.events.length;
      }
      const appended = await appendAndCommit(connection, schema, unit, unit.begin);
      if (appended.entries.length > 0) withoutDeadline(() => onAppended(appended));
      let number = appended.entries[0]?.number ?? 0;
      for (const item of batch) {
        const result = { ...item.answer.rest, [item.answer.named]: number };
        if (item.claim) item.claim.stored = { result };
        item.resolve(result as never);
        number += item.events.length;
      }
    });
  }
}

/** A server that refuses writes, or a lost connection as thrown by `connect`. A statement that was cancelled is neither. */
const isOutage = (error: unknown): boolean =>
  isRefusedForNow(error) || (error instanceof ChatError && error.status >= 500 && isConnectionFailure(error.cause));

/**
 * The longest run of waiting writes with compatible expected versions and distinct keys. Refuses writes whose deadline
 * has passed.
 */
function takeBatch(queue: Waiting[]): Waiting[] {
  while (queue[0]?.deadline?.hasEnded) queue.shift()?.reject(tooLate());
  const basis = new Map<string, number>();
  const keys = new Set<string>();
  let count = 0;
  for (const item of queue.slice(0, maxBatch)) {
    // Its deadline would abort the batch for the others.
    if (item.deadline?.hasEnded) break;
    const key = item.claim && `${item.claim.userId} ${item.claim.key}`;
    if (key !== undefined && keys.has(key)) break;
    if (Object.entries(item.basis).some(([name, version]) => (basis.get(name) ?? version) !== version)) break;
    for (const [name, version] of Object.entries(item.basis)) basis.set(name, version);
    if (key !== undefined) keys.add(key);
    count++;
  }
  return queue.splice(0, count);
}
