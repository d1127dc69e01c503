import { type Actor, isRefusal, type RequestMeta, unavailable } from '@natter/contracts';
import {
  type Claim,
  type Deadline,
  type GateOwner,
  type Gates,
  gateOwnerOf,
  type InLane,
  pause,
  type VersionsChanged,
} from '@natter/database';
import { authorize, type Permits } from './authorize.ts';
import type { CatchUp } from './catch-up.ts';
import type { Context, Handlers } from './handlers.ts';
import type { Logger } from './logging.ts';
import type { Envelope } from './wire.ts';
import { type Units, type Writing, writingOf } from './writes.ts';

/** Pause between attempts; the second attempt has none. */
const pauseMs = 10;
const longestPauseMs = 100;

export interface Serving {
  deadline: Deadline;
  /** Created lazily: most requests never log. */
  log: () => Logger;
  claim: Claim | undefined;
}

export interface Freshness {
  catchUp: CatchUp;
  refreshActor: (actor: Actor, meta: RequestMeta) => Promise<Actor>;
  /** Absent in services without operations that need a permission of the realm. */
  permits: Permits | undefined;
  units: Units | undefined;
  gates: Gates;
  inLane: InLane;
}

/** Runs after requests that concern the same object; otherwise like `runInLane`. */
export function runOnCurrentVersions(
  envelope: Envelope,
  handler: Handlers[number],
  freshness: Freshness,
  serving: Serving,
): Promise<unknown> {
  const lane = handler.laneOf?.(envelope.params);
  const run = () => runInLane(envelope, handler, freshness, serving);
  return lane === undefined ? run() : freshness.inLane(`${envelope.meta.realmId} ${lane}`, run);
}

/**
 * Runs a handler on current projections. If an expected version changed before the commit, the handler runs again with
 * a fresh actor, and from the second conflict on while the versions are held by gates, until it succeeds or the deadline
 * passes.
 */
async function runInLane(
  { actor: given, meta, params }: Envelope,
  { operation, run }: Handlers[number],
  freshness: Freshness,
  { deadline, log, claim }: Serving,
): Promise<unknown> {
  const { catchUp, refreshActor, gates, permits, units } = freshness;
  const { realmId } = meta;
  let actor = given;
  /** This service's projections include everything committed before the current attempt. */
  let hasCaughtUp = false;
  const catchUpWith = async (expected?: Record<string, number>, reader?: number): Promise<boolean> => {
    const { isStale, realmVersion, isComplete } = await catchUp(realmId, expected, reader);
    meta.realmVersion = realmVersion;
    hasCaughtUp = isComplete;
    return isStale;
  };
  const refresh = async (): Promise<void> => {
    if (actor) actor = await refreshActor(actor, meta);
  };
  if (operation.checksCredential) await refresh();
  const isForUsers = operation.http !== undefined || operation.page !== undefined;
  // The commit of a write compares the actor's versions. A read has no commit, so they are compared here.
  if (isForUsers && operation.projections === 'current' && (await catchUpWith(actor?.basis, actor?.userId)))
    await refresh();
  const decide = async (attempt: number): Promise<unknown> => {
    const allowed = actor && (await authorize(operation, actor, permits));
    const context: Context & Writing = {
      ...writingOf(units, { realmId, operation, actor: allowed, claim }),
      operation,
      actor: allowed,
      meta,
      get log() {
        return log();
      },
      attempt,
      deadline,
      get signal() {
        return deadline.signal;
      },
    };
    return run(context, params);
  };
  const decideAgain = async (attempt: number): Promise<unknown> => {
    // The decision may have used an outdated projection.
    await Promise.all([catchUpWith(), refresh()]);
    return decide(attempt);
  };
  let conflicts = 0;
  const held = new Set<GateOwner>();
  for (let attempt = 0; ; attempt++) {
    try {
      if (held.size > 0) {
        // Other requests wait while gates are held, so most of the missing events are read before.
        await catchUpWith();
        return await gates.hold(realmId, held, () => decideAgain(attempt));
      }
      return await (conflicts === 0 ? decide(attempt) : decideAgain(attempt));
    } catch (error) {
      // A refusal may follow from an outdated projection. It is the answer only on current ones.
      if (isForUsers && !hasCaughtUp && isRefusal(error) && !claim?.stored) {
        // Rejects at the deadline.
        while (!hasCaughtUp) await catchUpWith();
        continue;
      }
      if (!isVersionsChanged(error)) throw error;
      if (deadline.hasEnded) throw unavailable(error);
      log().debug({ err: error, operation: operation.name }, 'versions changed, the handler runs again');
      if (conflicts > 0) await pause(Math.random() * Math.min(pauseMs * conflicts, longestPauseMs));
      conflicts++;
      // Most versions change once, and a gate may be held by changes that take a second: the second attempt takes none.
      if (error.of === 'version' && conflicts > 1) held.add(gateOwnerOf(error.key));
    }
  }
}

const isVersionsChanged = (error: unknown): error is VersionsChanged =>
  error instanceof Error && error.name === 'VersionsChanged';
