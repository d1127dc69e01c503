import { type Actor, type ChatError, type Operation, refusalOf } from '@natter/contracts';

export interface Checked {
  actor: Actor;
  /** The error if the contract does not permit the actor to call the operation. */
  refusal: ChatError | undefined;
}

/**
 * Checks whether the contract permits an actor to call an operation. The actor may come from the cache. If the user was promoted
 * meanwhile, or the key has ended, a refusal would be wrong, so the actor is read again before a refusal. If the user was demoted
 * meanwhile, the service refuses the call, because it checks every call on current data.
 */
export async function checkCaller(operation: Operation, actor: Actor, renew: () => Promise<Actor>): Promise<Checked> {
  const refusal = refusalOf(operation, actor);
  if (!refusal) return { actor, refusal };
  const renewed = await renew();
  return { actor: renewed, refusal: refusalOf(operation, renewed) };
}
