import {
  type Actor,
  hasId,
  type IdSet,
  idSet,
  type RequestMeta,
  type UnknownUser,
  unknownUser,
} from '@natter/contracts';
import type { RealmPolicies, UserVisibility } from '@natter/service-kit';

export interface UnknownActor {
  /** The receivers who may not see the actor. */
  to: IdSet;
  shown: UnknownUser;
}

/**
 * Undefined if all receivers may see the actor. If the actor is a receiver too, all of them share a channel or a
 * conversation.
 */
export async function unknownActor(
  { userVisibility, policies }: { userVisibility: UserVisibility; policies: RealmPolicies },
  actor: Actor,
  meta: RequestMeta,
  receivers: IdSet | 'realm',
): Promise<UnknownActor | undefined> {
  const isReceiver = (id: number): boolean => receivers === 'realm' || hasId(receivers, id);
  if (actor.isSystemBot || (receivers !== 'realm' && isReceiver(actor.userId))) return undefined;
  const policy = await policies.get(meta, false);
  const guests = await userVisibility.guestsNotSeeing(actor.userId, meta, policy);
  const to = [...guests].filter(isReceiver);
  return to.length === 0 ? undefined : { to: idSet(to), shown: unknownUser(actor.userId, policy.host) };
}
