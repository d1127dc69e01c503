import { AsyncLocalStorage } from 'node:async_hooks';
import { badRequest, type ChatError } from '@natter/contracts';
import type { OnAppended } from './after-commit.ts';
import type { Outcome } from './append-many.ts';
import { captureCost } from './cost.ts';
import type { Database } from './database.ts';
import { currentDeadline } from './deadline.ts';
import { type Answered, storableCharacters, takeBatch, type Waiting } from './decided-writes.ts';
import { realmNamedBy, refuseNamed } from './named-cause.ts';
import { createOnePerKey } from './one-per-key.ts';
import { createRealmCommits, isServerOutage, type SharedBatch } from './realm-commits.ts';
import { traced } from './trace.ts';
import { VersionsChanged } from './unit-of-work.ts';

/** Returns the answer of the request. Throws `KeyTaken` if the key of `claim` has an answer. */
export type Commit = <N extends string, R extends object>(
  realmId: number,
  decided: Answered<N, R>,
) => Promise<R & Record<N, number>>;

/** The writes of a realm that wait. */
interface Line {
  realmId: number;
  waiting: Waiting[];
  /** How many times in a row a transaction with other realms left it out, because its clock was locked. */
  returned: number;
}

/** The part of a realm in a transaction with others. */
interface Sharing {
  line: Line;
  share: SharedBatch;
}

const maxWaiting = 5_000;
/**
 * Maximum number of running transactions of one realm each. While a transaction of several realms runs, no other one begins,
 * so that the next one contains more realms.
 */
const maxTransactions = 2;
/** A transaction that takes longer waits for something. Then other transactions begin without waiting for it. */
const slowMs = 50;
const maxRealms = 64;
/** A realm with this many writes has a transaction of its own: to share one would save little, and delay the others. */
const ownTransaction = 10;
/** A realm with more to write has a transaction of its own, because long texts take many milliseconds to index. */
const maxSharedCharacters = 16_000;
/** Maximum for all realms of a transaction, because it locks all their clocks. */
const maxCharacters = 100_000;
/** After this number of returns, the realm has a transaction of its own, which waits for the clock. */
const maxReturned = 2;
/** For how long a realm that made a transaction with others fail has transactions of its own. */
const apartMs = 1_000;

/**
 * Commits many decided writes in one transaction. These are many writes of one realm, so that its maximum rate is batch
 * size ÷ flush time, or a few writes of each of several realms, so that many realms cost little more than one. A realm is
 * part of one transaction at a time; writes that arrive meanwhile are part of the next one. The writes of a realm are
 * committed or refused independently of other realms.
 *
 * If a transaction fails and its error names writes, these are refused and the others are repeated. If it names none, the
 * realms are divided in halves until the realm that causes the error is alone, and then the writes of this realm.
 */
export function createCommitter(
  database: Database,
  schema: string,
  onAppended: OnAppended,
  full: () => ChatError,
): Commit {
  const commits = createRealmCommits(database, schema, onAppended);
  /** Realms that have waiting writes or are part of a transaction. */
  const lines = new Map<number, Line>();
  /** Realms that have waiting writes and are part of no transaction, in the order of their turns. */
  const ready = new Set<Line>();
  /** Realms that recently made a transaction with others fail. */
  const apart = new Set<number>();
  /** A transaction belongs to no single request. */
  const outsideRequests = AsyncLocalStorage.snapshot();
  const onePerKey = createOnePerKey();
  let free = maxTransactions;
  let isScheduled = false;

  return (realmId, decided) => onePerKey(realmId, decided.claim, () => wait(realmId, decided));

  function wait<R>(realmId: number, decided: Answered): Promise<R> {
    return new Promise((resolve, reject) => {
      // A text that Postgres cannot store would make the transaction fail for all writes in it.
      const characters = storableCharacters(decided);
      if (characters === undefined) return reject(badRequest('The request contains text that cannot be stored'));
      const known = lines.get(realmId);
      const line = known ?? { realmId, waiting: [], returned: 0 };
      if (line.waiting.length >= maxWaiting) return reject(full());
      const deadline = currentDeadline();
      const events = decided.events.map(traced);
      line.waiting.push({ ...decided, characters, deadline, events, charge: captureCost(), resolve, reject });
      if (!known) {
        lines.set(realmId, line);
        ready.add(line);
      }
      if (ready.has(line)) schedule();
    });
  }

  /** Waits one turn of the event loop, so that requests that were read together are committed together. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    outsideRequests(() => void setImmediate(start));
  }

  function start(): void {
    isScheduled = false;
    for (const line of ready)
      if (line.waiting.length >= ownTransaction || line.returned >= maxReturned || apart.has(line.realmId))
        void runAlone(line);
    while (free > 0 && ready.size > 0) {
      const [first, ...others] = [...ready].slice(0, maxRealms);
      if (!first) break;
      if (others.length === 0) void inTurn(1, () => runAlone(first));
      else void inTurn(maxTransactions, () => runTogether([first, ...others]));
    }
  }

  async function inTurn(places: number, transaction: () => Promise<void>): Promise<void> {
    let isCounted = true;
    free -= places;
    const uncount = (): void => {
      if (!isCounted) return;
      isCounted = false;
      free += places;
      if (ready.size > 0) schedule();
    };
    const timer = setTimeout(uncount, slowMs);
    await transaction();
    clearTimeout(timer);
    uncount();
  }

  function runAlone(line: Line): Promise<void> {
    ready.delete(line);
    return commitAlone(line, takeBatch(line.waiting));
  }

  async function commitAlone(line: Line, batch: readonly Waiting[]): Promise<void> {
    try {
      if (batch.length > 0) await commits.commit(line.realmId, batch);
    } finally {
      line.returned = 0;
      makeReady(line);
    }
  }

  /** The realm is no longer part of a transaction. `repeated`: writes that go first in the next one. */
  function makeReady(line: Line, repeated: readonly Waiting[] = []): void {
    line.waiting.unshift(...repeated);
    if (line.waiting.length === 0) return void lines.delete(line.realmId);
    ready.add(line);
    schedule();
  }

  /** Takes the waiting writes of realms; realms whose writes cannot be shared are committed alone. */
  function takeShares(candidates: readonly Line[]): Sharing[] {
    const all: Sharing[] = [];
    let characters = 0;
    for (const line of candidates) {
      ready.delete(line);
      const batch = takeBatch(line.waiting);
      const share = shareOf(line, batch);
      if (!share) {
        void commitAlone(line, batch);
        continue;
      }
      characters += share.item.length;
      if (characters > maxCharacters) {
        makeReady(line, batch);
        break;
      }
      all.push({ line, share });
    }
    return all;
  }

  /** Undefined if the batch has to be committed alone: also a write that cannot be encoded, which fails there. */
  function shareOf(line: Line, batch: readonly Waiting[]): SharedBatch | undefined {
    try {
      const share = batch.length === 0 ? undefined : commits.shareOf(line.realmId, batch);
      return share && share.item.length <= maxSharedCharacters ? share : undefined;
    } catch {
      return undefined;
    }
  }

  async function runTogether(candidates: readonly Line[]): Promise<void> {
    await commitTogether(takeShares(candidates));
  }

  async function commitTogether(all: readonly Sharing[]): Promise<void> {
    if (all.length === 0) return;
    let outcomes: Map<number, Outcome>;
    try {
      outcomes = await commits.commitTogether(all.map(({ share }) => share));
    } catch (error) {
      return await afterFailure(all, error);
    }
    for (const { line, share } of all) {
      const outcome = outcomes.get(line.realmId) ?? 'busy';
      if (outcome === 'busy') {
        line.returned++;
        makeReady(line, share.batch);
        continue;
      }
      line.returned = 0;
      makeReady(line, 'stale' in outcome ? refuseNamed(share.batch, new VersionsChanged(outcome.stale)) : []);
    }
  }

  /** Called when a shared transaction failed. It committed nothing, unless the connection was lost. */
  async function afterFailure(all: readonly Sharing[], error: unknown): Promise<void> {
    // After a lost connection the outcome is unknown, so no write may be repeated here.
    if (isServerOutage(error)) {
      for (const { line, share } of all) {
        for (const item of share.batch) item.reject(error);
        makeReady(line);
      }
      return;
    }
    const isCause = ({ line }: Sharing): boolean => all.length === 1 || line.realmId === realmNamedBy(error);
    const causes = all.filter(isCause);
    for (const { line, share } of causes) {
      keepApart(line.realmId);
      makeReady(line, refuseNamed(share.batch, error));
    }
    if (causes.length > 0) return await commitTogether(all.filter((one) => !isCause(one)));
    const middle = all.length >> 1;
    await Promise.all([commitTogether(all.slice(0, middle)), commitTogether(all.slice(middle))]);
  }

  function keepApart(realmId: number): void {
    apart.add(realmId);
    setTimeout(() => apart.delete(realmId), apartMs).unref();
  }
}
