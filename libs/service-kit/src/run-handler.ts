import type { Operation } from '@natter/contracts';
import { type Answers, asTenant, type Tenant, tenantWithoutAccount } from '@natter/database';
import { answerOnce, type BusCall, claimBesideOther, claimOf, type Fingerprint } from './answer-once.ts';
import { inWrite } from './beside-write.ts';
import type { Handlers } from './handlers.ts';
import type { Recovery } from './recovery.ts';
import { type Freshness, runOnCurrentVersions, type Serving } from './retry-on-changed-versions.ts';
import type { Envelope } from './wire.ts';

/** The store for answers of writes, and the function that fingerprints requests with a key. */
export interface Kept {
  answers: Answers;
  fingerprint: Fingerprint;
}

interface Request {
  envelope: Envelope;
  handler: Handlers[number];
  /** Callers of the previous release send no request id. */
  call: BusCall | undefined;
  /** Whether this process has seen a repetition of the call so far. */
  isRetry: () => boolean;
}

interface Running {
  freshness: Freshness;
  kept: Kept | undefined;
  recovery: Recovery;
  /** Logs and counts what failed after a change was committed. */
  failedAfterCommit: (error: unknown) => void;
}

/**
 * Answers one request: a write once under its key, and on current expected versions. While PostgreSQL cannot serve it,
 * it runs again; a write only if its key shows whether an earlier attempt was committed, or if none was.
 */
export async function runHandler(
  { envelope, handler, call, isRetry }: Request,
  { freshness, kept, recovery, failedAfterCommit }: Running,
  serving: Omit<Serving, 'claim'>,
): Promise<unknown> {
  const { operation, answerOf = (stored: unknown) => stored } = handler;
  let claim = kept && claimOf(operation, envelope, call, kept.fingerprint);
  const tenant = tenantOf(operation, envelope);
  const outcome = operation.isReadOnly || operation.isIdempotent || claim ? 'known' : 'unknown';
  const run = () =>
    asTenant(tenant, () =>
      inWrite(claim && operation.name, () => runOnCurrentVersions(envelope, handler, freshness, { ...serving, claim })),
    );
  const attempt = async (before: number): Promise<unknown> => {
    if (operation.isReadOnly || !kept || !claim) return run();
    const isRepeated = () => before > 0 || isRetry();
    const { checksPassword } = operation;
    const { realmId } = envelope.meta;
    const once = { realmId, claim, answers: kept.answers, isRetry: isRepeated, checksPassword, failedAfterCommit };
    try {
      return await answerOnce(once, operation.name, run);
    } catch (error) {
      const other = claimBesideOther(claim, error);
      if (!other) throw error;
      claim = other;
      return answerOnce({ ...once, claim }, operation.name, run);
    }
  };
  return answerOf(await recovery.run(attempt, { tenant, outcome }));
}

/** Calls of services without an actor, such as the check of a key, take the turns of their realm. */
export function tenantOf({ caller }: Pick<Operation, 'caller'>, { actor, meta }: Envelope): Tenant {
  if (actor) return { realmId: meta.realmId, userId: actor.userId };
  const isOfClient = caller === 'public' || caller === 'spectator';
  return isOfClient ? tenantWithoutAccount(meta.network ?? '') : { realmId: meta.realmId, userId: 0 };
}
