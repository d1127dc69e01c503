import {
  type Actor,
  hasId,
  type IdSet,
  idSet,
  type RequestMeta,
  type UnknownUser,
  unknownUser,
} from '@natter/contracts';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';

export interface UnknownActor {
  /** The receivers who may not see the actor. */
  to: IdSet;
  shown: UnknownUser;
}

interface Receivers {
  audience: IdSet | 'realm';
  /** Mentioned bots that are not in the audience. */
  called: readonly number[];
}

/**
 * Undefined if all receivers may see the actor. If the actor is in the audience too, all users there share a channel or a
 * conversation; the called bots do not.
 */
export async function unknownActor(
  { userVisibility, policies }: { userVisibility: UserVisibility; policies: RealmPolicies },
  actor: Actor,
  meta: RequestMeta,
  { audience, called }: Receivers,
): Promise<UnknownActor | undefined> {
  const isAmong = (id: number): boolean => audience === 'realm' || hasId(audience, id);
  const isShared = audience !== 'realm' && isAmong(actor.userId);
  if (actor.isSystemBot || (isShared && called.length === 0)) return undefined;
  const policy = await policies.get(meta, false);
  const guests = await userVisibility.guestsNotSeeing(actor.userId, meta, policy);
  const to = [...guests].filter((id) => called.includes(id) || (!isShared && isAmong(id)));
  return to.length === 0 ? undefined : { to: idSet(to), shown: unknownUser(actor.userId, policy.host) };
}
