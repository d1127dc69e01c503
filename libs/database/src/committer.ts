import { ChatError, type LogEvent } from '@natter/contracts';
import { type Claim, insertNumberedAnswers, numberedAnswer } from './claim.ts';
import type { Database } from './database.ts';
import { currentDeadline, type Deadline, tooLate, withDeadline, withoutDeadline } from './deadline.ts';
import type { Numbered } from './numbered.ts';
import { isTransient } from './prepared.ts';
import { isConnectionFailure } from './sql-state.ts';
import { traced } from './trace.ts';
import { appendAndCommit, type OnAppended, openUnit } from './unit-of-work.ts';

/** One decided write, ready to be committed with others. */
export interface Decided {
  basis: Record<string, number>;
  events: LogEvent[];
  /** Rows that carry the numbers; called with the SQL position of this item's first event before the end of the batch. */
  numbered: (fromEnd: number) => Numbered[];
}

/** A decided write and what its request is answered. */
export interface Answered<N extends string = string, R extends object = object> extends Decided {
  /** `rest`, and under the name `named` the number of the first event. */
  answer: { named: N; rest: R };
  claim: Claim | undefined;
}

interface Waiting extends Answered {
  deadline: Deadline | undefined;
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
}

/** Gives the answer of the request. Throws `KeyTaken` when the key of `claim` has an answer. */
export type Commit = <N extends string, R extends object>(
  realmId: number,
  decided: Answered<N, R>,
) => Promise<R & Record<N, number>>;

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
    const key = item.claim && `${item.claim.userId} ${item.claim.key}`;
    if (key !== undefined && keys.has(key)) break;
    if (Object.entries(item.basis).some(([name, version]) => (basis.get(name) ?? version) !== version)) break;
    for (const [name, version] of Object.entries(item.basis)) basis.set(name, version);
    if (key !== undefined) keys.add(key);
    count++;
  }
  return queue.splice(0, count);
}
