import { type Actor, ChatError, type RequestMeta, unavailable } from '@natter/contracts';
import type { Deadline } from '@natter/database';
import type { CatchUp } from './catch-up.ts';
import type { Context, Handlers } from './handlers.ts';
import type { Logger } from './logging.ts';
import type { Envelope } from './wire.ts';

const maxAttempts = 6;

export interface Serving {
  deadline: Deadline;
  /** Created lazily: most requests never log. */
  log: () => Logger;
}

export interface Freshness {
  catchUp: CatchUp;
  refreshActor: (actor: Actor, meta: RequestMeta) => Promise<Actor>;
}

/**
 * Runs a handler on current copies of others' data. When versions that its decision expected have changed before the commit,
 * it runs again with a fresh actor.
 */
export async function runOnCurrentVersions(
  { actor: given, meta, params }: Envelope,
  { operation, run }: Handlers[number],
  { catchUp, refreshActor }: Freshness,
  { deadline, log }: Serving,
): Promise<unknown> {
  let actor = given;
  const refresh = async (): Promise<void> => {
    if (actor) actor = await refreshActor(actor, meta);
  };
  const isForUsers = operation.http !== undefined || operation.page !== undefined;
  // The commit of a write compares the actor's versions. A read has no commit, so they are compared here.
  if (isForUsers && operation.copies === 'current') {
    const { isStale, realmVersion } = await catchUp(meta.realmId, actor?.basis);
    meta.realmVersion = realmVersion;
    if (isStale) await refresh();
  }
  for (let attempt = 0; ; attempt++) {
    try {
      const context: Context = {
        actor,
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
      return await run(context, params);
    } catch (error) {
      if (isForUsers && attempt === 0 && operation.copies === 'current-on-refusal' && isRefusal(error)) {
        await catchUp(meta.realmId);
        continue;
      }
      if (!(error instanceof Error) || error.name !== 'BasisChanged') throw error;
      if (attempt + 1 >= maxAttempts || deadline.hasEnded) throw unavailable(error);
      log().debug({ err: error, operation: operation.name }, 'versions changed, the handler runs again');
      // The decision may have used a copy that is behind.
      await catchUp(meta.realmId);
      await refresh();
    }
  }
}

const isRefusal = (error: unknown): boolean => error instanceof ChatError && error.status >= 400 && error.status < 500;
