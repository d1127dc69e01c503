import { ChatError } from '@natter/contracts';
import type { OnAppended } from './after-commit.ts';
import { appendMany, itemOf, type Outcome, type Share } from './append-many.ts';
import { insertNumberedAnswers } from './claim.ts';
import type { Connection } from './connection.ts';
import { costOfCommit, costOfStatement } from './cost.ts';
import type { Database } from './database.ts';
import { withDeadline } from './deadline.ts';
import { chargeAll, refuseLate, resolveAll, type Waiting, writesOf } from './decided-writes.ts';
import { refuseNamed } from './named-cause.ts';
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
  /** Commits or refuses the writes of a batch, if possible in one transaction. */
  commit(realmId: number, batch: readonly Waiting[]): Promise<void>;
  /** The batch as a part of a transaction of several realms; undefined if it needs a transaction of its own. */
  shareOf(realmId: number, batch: readonly Waiting[]): SharedBatch | undefined;
  /** Commits batches of several realms in one transaction. Answers the requests of those that were committed. */
  commitTogether(shares: readonly SharedBatch[]): Promise<Map<number, Outcome>>;
}

/** Deadline of writes whose caller set none. */
const batchMs = 15_000;
/** A write with less time left is not committed together with other realms: its deadline would end their transaction too. */
const leastSharedMs = 300;
/**
 * How long each attempt of a write waits for locks of rows while it holds the clock. The transaction that locked a row may
 * itself wait for the clock; it continues when the attempt is rolled back. The last attempt waits as long as any transaction.
 * Several writes together have only the first attempt. Then they are divided, so that only the write that waits for the row
 * is repeated.
 */
const rowLockMs = [25, 100, 400, undefined];

/** Writes of a batch that are committed together. */
interface Part {
  writes: readonly Waiting[];
  /** The number of the attempt, from 0. */
  attempt: number;
}

export function createRealmCommits(database: Database, schema: string, onAppended: OnAppended): RealmCommits {
  const insertAnswers = insertNumberedAnswers(schema);
  return { commit, shareOf, commitTogether };

  async function commit(realmId: number, batch: readonly Waiting[]): Promise<void> {
    const parts: Part[] = [{ writes: batch, attempt: 0 }];
    for (let part = parts.shift(); part; part = parts.shift())
      try {
        await commitOnce(realmId, part.writes, rowLockMs[part.attempt]);
      } catch (error) {
        if (isServerOutage(error)) {
          refuse(part.writes, error);
          continue;
        }
        const others = refuseNamed(refuseLate(part.writes), error);
        if (others.length === part.writes.length) parts.push(...nextParts(part, error));
        else if (others.length > 0) parts.unshift({ writes: others, attempt: 0 });
      }
  }

  async function commitOnce(realmId: number, batch: readonly Waiting[], lockMs: number | undefined): Promise<void> {
    const transaction = async (connection: Connection): Promise<void> => {
      const begunAt = performance.now();
      const unit = { ...openUnit(connection, { realmId }), ...writesOf(batch, insertAnswers), rowLockMs: lockMs };
      const durationMs = (): number => performance.now() - begunAt;
      const appended = await appendAndCommit(connection, schema, unit, unit.begin).catch((error: unknown) => {
        chargeAll(batch, costOfStatement(durationMs()));
        throw error;
      });
      onAppended(appended);
      resolveAll(batch, appended.entries, costOfCommit(durationMs(), appended.heldMs));
    };
    await asTenant({ realmId, userId: 0 }, () => untilFirstDeadline(batch, () => database.connect(transaction)));
  }

  function shareOf(realmId: number, batch: readonly Waiting[]): SharedBatch | undefined {
    if (batch.some(({ deadline }) => deadline && deadline.remainingMs() < leastSharedMs)) return undefined;
    const { expected, events, numbered } = writesOf(batch, insertAnswers);
    const rows = numbered.filter(isRow);
    // Any other statement than the insertion of rows may wait for a lock, and the other realms would wait, too.
    if (events.length === 0 || rows.length < numbered.length) return undefined;
    return { realmId, batch, events, rows, item: itemOf(realmId, expected, events) };
  }

  /** The transaction gets a connection with priority, because requests of many realms wait for it. */
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
    // Each realm is charged for its part of the text.
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

/** The parts to try after all others, because the cause of a failure is unknown. Refuses a single write that caused it. */
function nextParts({ writes, attempt }: Part, error: unknown): Part[] {
  if (writes.length > 1) {
    // Halves take few transactions, for which the other writes of the realm wait.
    const middle = writes.length >> 1;
    return [writes.slice(0, middle), writes.slice(middle)].map((half) => ({ writes: half, attempt: 0 }));
  }
  // Deadlocks and lock time-outs are not caused by the write.
  if (isTransient(error) && attempt + 1 < rowLockMs.length) return [{ writes, attempt: attempt + 1 }];
  refuse(writes, error);
  return [];
}

function refuse(batch: readonly Waiting[], error: unknown): void {
  for (const item of batch) item.reject(error);
}

/** The earliest deadline aborts the transaction; the other writes are then committed without that write. */
function untilFirstDeadline<R>(batch: readonly Waiting[], work: () => Promise<R>): Promise<R> {
  const remainingMs = Math.min(batchMs, ...batch.map(({ deadline }) => deadline?.remainingMs() ?? batchMs));
  const patience = sharedPatience(batch.flatMap(({ deadline }) => deadline?.patience ?? []));
  return withDeadline(remainingMs, work, patience);
}

/** The server refuses writes for now, or `connect` lost the connection. A cancelled statement is no outage. */
export const isServerOutage = (error: unknown): boolean =>
  isRefusedForNow(error) || (error instanceof ChatError && error.status >= 500 && isConnectionFailure(error.cause));
