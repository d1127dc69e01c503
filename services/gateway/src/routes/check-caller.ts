import { type Actor, type ChatError, type Operation, refusalOf } from '@natter/contracts';

export interface Checked {
  actor: Actor;
  /** The refusal of the actor by the contract. */
  refusal: ChatError | undefined;
}

/**
 * Whether the contract permits an actor to call an operation. The actor may be cached, so its role may be older than a
 * promotion that its client already knows of, and its key may have ended: before a refusal, the actor is read again. A cached role
 * may also be older than a demotion: the service checks every call on current data.
 */
export async function checkCaller(operation: Operation, actor: Actor, renew: () => Promise<Actor>): Promise<Checked> {
  const refusal = refusalOf(operation, actor);
  if (!refusal) return { actor, refusal };
  const renewed = await renew();
  return { actor: renewed, refusal: refusalOf(operation, renewed) };
}
