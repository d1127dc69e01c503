import { ChatError } from '@natter/contracts';
import type { OnAppended } from './after-commit.ts';
import { appendMany, itemOf, type Outcome, type Share } from './append-many.ts';
import { insertNumberedAnswers } from './claim.ts';
import { costOfStatement } from './cost.ts';
import type { Database } from './database.ts';
import { tooLate, withDeadline } from './deadline.ts';
import { resolveAll, type Waiting, writesOf } from './decided-writes.ts';
import { isRow } from './numbered.ts';
import { sharedPatience } from './patience.ts';
import { isTransient } from './prepared.ts';
import { isConnectionFailure, isRefusedForNow } from './sql-state.ts';
import { asTenant, withPriority } from './turns.ts';
import { appendAndCommit, openUnit } from './unit-of-work.ts';

/** The batch of a realm in a transaction with batches of other realms. */
export interface SharedBatch extends Share {
  batch: readonly Waiting[];
}

/** The transactions of a committer. */
export interface RealmCommits {
  /** Commits a batch in a transaction of its own, and answers its requests. Returns the writes that have to be repeated. */
  commit(realmId: number, batch: readonly Waiting[]): Promise<readonly Waiting[]>;
  /** The batch as a part of a transaction of several realms; undefined if it needs a transaction of its own. */
  shareOf(realmId: number, batch: readonly Waiting[]): SharedBatch | undefined;
  /** Commits batches of several realms in one transaction. Answers the requests of those that were committed. */
  commitTogether(shares: readonly SharedBatch[]): Promise<Map<number, Outcome>>;
}

/** Deadline of writes whose caller set none. */
const batchMs = 15_000;
/** A write with less time left may abort its transaction, which would delay other realms. */
const leastSharedMs = 300;

export function createRealmCommits(database: Database, schema: string, onAppended: OnAppended): RealmCommits {
  const insertAnswers = insertNumberedAnswers(schema);
  return { commit, shareOf, commitTogether };

  async function commit(realmId: number, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    try {
      await commitBatch(realmId, batch);
      return [];
    } catch (error) {
      if (isOutage(error) || (batch.length === 1 && !isTransient(error))) {
        for (const item of batch) item.reject(error);
        return [];
      }
      // A write reached its deadline and aborted the batch; it is refused when the next batch is taken.
      if (batch.some(({ deadline }) => deadline?.hasEnded)) return batch;
      for (const item of batch) await commitAlone(realmId, item);
      return [];
    }
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

  function commitBatch(realmId: number, batch: readonly Waiting[]): Promise<void> {
    return asTenant({ realmId, userId: 0 }, () => untilFirstDeadline(batch, () => commitWithin(realmId, batch)));
  }

  async function commitWithin(realmId: number, batch: readonly Waiting[]): Promise<void> {
    await database.connect(async (connection) => {
      const begunAt = performance.now();
      const unit = { ...openUnit(connection, { realmId }), ...writesOf(batch, insertAnswers) };
      const appended = await appendAndCommit(connection, schema, unit, unit.begin);
      onAppended(appended);
      resolveAll(batch, appended.entries, costOfStatement(performance.now() - begunAt));
    });
  }

  function shareOf(realmId: number, batch: readonly Waiting[]): SharedBatch | undefined {
    if (batch.some(({ deadline }) => deadline && deadline.remainingMs() < leastSharedMs)) return undefined;
    const { basis, events, numbered } = writesOf(batch, insertAnswers);
    const rows = numbered.filter(isRow);
    // Other statements may wait for locks, which would delay the other realms.
    if (events.length === 0 || rows.length < numbered.length) return undefined;
    return { realmId, batch, events, rows, item: itemOf(realmId, basis, events) };
  }

  /** Few of these run at once, and requests of many realms wait for each. */
  async function commitTogether(shares: readonly SharedBatch[]): Promise<Map<number, Outcome>> {
    const all = shares.flatMap(({ batch }) => batch);
    let begunAt = 0;
    const outcomes = await withPriority(() =>
      untilFirstDeadline(all, () =>
        database.connect((connection) => {
          begunAt = performance.now();
          return appendMany(connection, schema, shares);
        }),
      ),
    );
    const costMs = costOfStatement(performance.now() - begunAt);
    const characters = shares.reduce((sum, { item }) => sum + item.length, 0);
    for (const { realmId, batch, item } of shares) {
      const outcome = outcomes.get(realmId);
      if (typeof outcome !== 'object' || !('entries' in outcome)) continue;
      resolveAll(batch, outcome.entries, (costMs * item.length) / characters);
      onAppended({ realmId, entries: outcome.entries });
    }
    return outcomes;
  }
}

/** The earliest deadline aborts the transaction; the other writes are then committed without that write. */
function untilFirstDeadline<R>(batch: readonly Waiting[], work: () => Promise<R>): Promise<R> {
  const remainingMs = Math.min(batchMs, ...batch.map(({ deadline }) => deadline?.remainingMs() ?? batchMs));
  const patience = sharedPatience(batch.flatMap(({ deadline }) => deadline?.patience ?? []));
  return withDeadline(remainingMs, work, patience);
}

/** A server that refuses writes, or a lost connection as thrown by `connect`. A statement that was cancelled is neither. */
export const isOutage = (error: unknown): boolean =>
  isRefusedForNow(error) || (error instanceof ChatError && error.status >= 500 && isConnectionFailure(error.cause));
