import { type EventName, type LogEvent, nameOfEvent, type Predecessor } from '@natter/contracts';
import { createBatchLimits } from './batch-limits.ts';
import { type Claim, createConsumerPosition } from './consumer-position.ts';
import type { Database } from './database.ts';
import { createFailingRealms } from './failing-realms.ts';
import { createParkedEvents } from './parked-events.ts';
import { createPredecessorWaits } from './predecessor-waits.ts';
import { createRealmHints } from './realm-hints.ts';
import { createRealmPauses } from './realm-pauses.ts';
import { createTriedEvents } from './tried-events.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import type { Handled, Work } from './work.ts';

/**
 * The handlers of a consumer by event name. Other events only advance its position. A handler that returns `unfinished` has
 * stored only a part of the effects of the event. This part is committed, and the handler is called again with the event.
 */
type On = { [N in EventName]?: Handle<N> };
type Handle<N extends EventName> = (work: Work, event: LogEvent<N>, number: number) => Promise<Handled>;

export interface ConsumerOptions {
  schema: string;
  name: string;
  on: On;
  /** Consumers that must have handled each event before this consumer handles it. */
  after?: readonly Predecessor[] | undefined;
  /** Maximum number of events in one transaction. Set a lower one if other transactions wait for its locks. */
  batchSize?: number | undefined;
  /** Runs after the last event of a transaction, for work that is cheaper for many events at once. */
  finish?: ((work: Work) => Promise<void>) | undefined;
  /**
   * Hints within this time (milliseconds) cause one query. Set a longer time than the default if hints are frequent and
   * no request waits for them. Then the consumer also pauses after each round, in proportion to the duration of the round, so
   * that the share of time in which it works is limited, however many realms are active.
   */
  gatherMs?: number | undefined;
  /** Called after each transaction that handled events. */
  onMoved?: ((realmId: number) => void) | undefined;
  /** Runs a transaction that handles events of the realm, and measures what it costs. */
  charged?: <R>(realmId: number, work: () => Promise<R>) => Promise<R>;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

export interface Consumer {
  readonly name: string;
  readonly types: readonly string[];
  /** The longest time for which a realm has been failing, in seconds. */
  failingSeconds(): number;
  /** The number up to which this process has found no waiting events. */
  through(realmId: number): number;
  /** Records that another query found no waiting events up to this number. */
  sawNothing(realmId: number, number: number): void;
  /** New events may exist in this realm; `isAwaited`: a request waits for their effect. */
  hint(realmId: number, isAwaited?: boolean): void;
  /** A predecessor in this process has handled events of the realm. */
  predecessorMoved(realmId: number): void;
  stop(): Promise<void>;
}

const pollMs = 1_000;
/**
 * Maximum idle time of a transaction between two statements. It is short, because requests of all processes wait for projections
 * that only the process that holds the position can update.
 */
const idleMs = 2_000;
/** Key of failures that concern no single realm. */
const everyRealm = 0;
const usualGatherMs = 15;
/**
 * The pause of a consumer with `gatherMs` after it has handled all events, as a multiple of the time that this took; at most
 * `pollMs`.
 */
const restFactor = 4;
const usualBatchSize = 200;
/**
 * After this time a transaction handles no further event, because other realms wait, and other transactions wait for its locks.
 */
const longestBatchMs = 250;
const reapplyEveryMs = 5_000;
const deadlyText = 'Processes ended while they handled this event';

/**
 * Handles the events of every realm in order. The position advances in the transaction that stores the effects of an event. So
 * each event takes effect once, even if a process is killed. Over events without a handler the position advances from time to
 * time, for all realms in one step. An event is parked and skipped if it causes three failures, or if eight processes ended during
 * it. After any other failure the consumer tries again, until it succeeds.
 */
export function startConsumer(database: Database, unitOfWork: UnitOfWork, options: ConsumerOptions): Consumer {
  const { schema, name, after = [], onError, batchSize = usualBatchSize, charged = (_, work) => work() } = options;
  const types = [...new Set(Object.keys(options.on).map((event) => event.replace(/\/.*/, '')))];
  const position = createConsumerPosition(database, schema, name, { types, after });
  const hints = createRealmHints(options.gatherMs ?? usualGatherMs, pollMs);
  const pauses = createRealmPauses(hints.hint);
  const limits = createBatchLimits(batchSize);
  /** After a failure, events of the realm are handled one by one until the failed event is handled or parked. */
  const failing = createFailingRealms();
  const parked = createParkedEvents(database, unitOfWork, { schema, name, types });
  const tried = createTriedEvents(batchSize, position.countTry);
  const predecessors = createPredecessorWaits((realmId) => hint(realmId, true), pollMs);
  const clocks = { polledAt: Number.NEGATIVE_INFINITY, reappliedAt: performance.now() };
  /** For how long the last transaction had the position of its realm; 0 if it had none. */
  let transactionMs = 0;

  const loop = (async () => {
    /** When the first of the rounds began that followed one another without a pause. */
    let beganAt: number | undefined;
    while (!hints.isStopped) {
      const realms = hints.take();
      beganAt ??= performance.now();
      let hasMore = false;
      try {
        hasMore = await round(realms);
        failing.passed(everyRealm, 0);
        await reapplyOccasionally();
        await position.storeOccasionally();
      } catch (error) {
        onError(error, { consumer: name });
        const { waitMs } = failing.failed(everyRealm, 0, error);
        await hints.waitAfterFailure(waitMs);
      }
      if (hasMore) continue;
      const restMs = options.gatherMs === undefined ? 0 : restFactor * (performance.now() - beganAt);
      beganAt = undefined;
      if (!hints.isStopped) await hints.wait(restMs);
    }
  })();

  return {
    name,
    types,
    failingSeconds: failing.longestSeconds,
    through: position.through,
    sawNothing,
    hint,
    predecessorMoved: predecessors.moved,
    stop: async () => {
      hints.stop();
      pauses.stop();
      predecessors.stop();
      await loop;
    },
  };

  /**
   * Handles some events of each hinted realm, and polls. A realm that has more events waits until the others had their turn, so
   * that a realm with many events, or slow ones, does not delay the others. After a long transaction it also pauses if another
   * realm is hinted. Returns whether a realm that does not pause has more events.
   */
  async function round(realms: Set<number>): Promise<boolean> {
    // Polls even under continuous hints, because a lost hint is not repeated.
    if (realms.size === 0 || performance.now() - clocks.polledAt > pollMs) {
      clocks.polledAt = performance.now();
      for (const realmId of await position.realmsBehind()) realms.add(realmId);
    }
    let hasMore = false;
    for (const realmId of realms) {
      if (hints.isStopped) return false;
      if (pauses.holds(realmId) || !failing.mayTry(realmId)) continue;
      const hasSome = await consumeSome(realmId);
      // A consumer with `gatherMs` rests in proportion to its work, which limits all realms.
      if (options.gatherMs === undefined && (realms.size > 1 || hints.hasOther(realmId)))
        pauses.begin(realmId, transactionMs, hints.isAwaited(realmId));
      if (!hasSome || pauses.holds(realmId)) continue;
      hasMore = true;
      hints.hint(realmId);
    }
    return hasMore;
  }

  function hint(realmId: number, isAwaited = false): void {
    if (!pauses.holds(realmId, isAwaited)) hints.hint(realmId, isAwaited);
  }

  function sawNothing(realmId: number, number: number): void {
    failing.passed(realmId, number);
    position.sawNothing(realmId, number);
  }

  /** Events are not validated: `log.append` accepts a type only from its owner, whose code is typed by the declaration. */
  async function handle(work: Work, event: LogEvent, number: number): Promise<Handled> {
    const act = options.on[nameOfEvent(event) as EventName] as
      | ((work: Work, event: LogEvent, number: number) => Promise<Handled>)
      | undefined;
    return act?.(work, event, number);
  }

  async function reapplyOccasionally(): Promise<void> {
    if (performance.now() - clocks.reappliedAt <= reapplyEveryMs) return;
    clocks.reappliedAt = performance.now();
    await parked.reapply(async (work, { number, event }) => {
      const handled = await handle(work, event, number);
      await options.finish?.(work);
      return handled;
    });
  }

  /** Returns whether more events may be waiting. */
  async function consumeSome(realmId: number): Promise<boolean> {
    let current = 0;
    let claimedAt: number | undefined;
    transactionMs = 0;
    try {
      // Failures of the realm are counted in this process already, so no try is counted.
      const caution = failing.has(realmId) ? { limit: 1, deadly: undefined } : await tried.begin(realmId);
      if (caution.deadly !== undefined) {
        const error = new Error(deadlyText);
        onError(error, { consumer: name, realmId, number: caution.deadly });
        return await skip(realmId, caution.deadly, error);
      }
      const limit = Math.min(caution.limit, limits.of(realmId));
      const unit = { realmId, schema, claim: undefined, idleMs, isConsumer: true };
      const handleSome = async (work: Work) => {
        current = 0;
        // If nothing is found, another process is working on it.
        const mine = await position.claim(work, limit);
        if (!mine) return undefined;
        claimedAt = performance.now();
        return apply(work, mine, (number) => {
          current = number;
        });
      };
      const seen = await charged(realmId, () => unitOfWork(unit, handleSome));
      position.exists(realmId);
      if (claimedAt !== undefined) transactionMs = performance.now() - claimedAt;
      if (!seen) {
        const waitMs = failing.unclaimed(realmId);
        if (waitMs !== undefined) retryLater(realmId, waitMs);
        return false;
      }
      limits.ended(realmId, seen.handledCount);
      if (seen.isMoved) {
        failing.passed(realmId, seen.through);
        tried.succeeded(realmId);
        position.advanced(realmId, seen.through);
        options.onMoved?.(realmId);
      } else sawNothing(realmId, seen.through);
      if (!seen.isFull) predecessors.found(realmId, seen.isWaiting);
      return seen.isFull;
    } catch (error) {
      const { count, waitMs, park } = failing.failed(realmId, current, error);
      onError(error, { consumer: name, realmId, number: current, count });
      if (park) return await skip(realmId, current, error);
      // The process still runs, so the event did not end it.
      void position.forgetTries(realmId).catch(() => undefined);
      retryLater(realmId, waitMs);
      return false;
    }
  }

  async function skip(realmId: number, number: number, error: unknown): Promise<boolean> {
    await parked.park(realmId, number, error);
    failing.passed(realmId, number);
    return true;
  }

  async function apply(work: Work, mine: Claim, reached: (number: number) => void) {
    const { dropped, events, number } = mine;
    if (mine.position < dropped) await reportMissing(work, dropped);
    const until = performance.now() + longestBatchMs;
    /** The last event that was handled, if the transaction ends before the last of the batch. */
    let endedAt: number | undefined;
    /** The number of events before the first one that is to be handled again, in that case. */
    let handledCount: number | undefined;
    for (const [index, row] of events.entries()) {
      reached(row.number);
      const handled = row.event.isForClientsOnly ? undefined : await handle(work, row.event, row.number);
      if (handled === 'unfinished') endedAt = row.number - 1;
      else if (performance.now() > until && index < events.length - 1) endedAt = row.number;
      if (endedAt === undefined) continue;
      handledCount = handled === 'unfinished' ? index : index + 1;
      break;
    }
    if (events.length > 0) await options.finish?.(work);
    const isFull = endedAt !== undefined || mine.is_full;
    const last = endedAt ?? events.at(-1)?.number ?? 0;
    const through = Math.max(mine.position, isFull ? last : number);
    const isMoved = events.length > 0 || mine.position < dropped;
    if (isMoved) position.advance(work, through);
    return { through, isFull, isMoved, handledCount, isWaiting: number < (mine.end_number ?? number) };
  }

  function retryLater(realmId: number, ms: number): void {
    setTimeout(() => hint(realmId), ms).unref();
  }

  /**
   * Events are kept until every consumer has read them, so this consumer is new in an existing realm: its projection
   * lacks earlier events.
   */
  async function reportMissing(work: Work, dropped: number): Promise<void> {
    const text = `Events up to ${dropped} are no longer in the log; what this consumer keeps begins after them`;
    onError(new Error(text), { consumer: name, realmId: work.realmId });
    await parked.insert(work, dropped, text);
  }
}
