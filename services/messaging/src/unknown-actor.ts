import {
  type Actor,
  hasId,
  type IdSet,
  idSet,
  type RequestMeta,
  type UnknownUser,
  unknownUser,
} from '@natter/contracts';
import type { RealmPolicies, Sight } from '@natter/service-kit';

export interface UnknownActor {
  /** Those of the receivers who may not know of the actor. */
  to: IdSet;
  shown: UnknownUser;
}

/** Undefined where all receivers may know who does this: who is among them shares a channel or a conversation with them. */
export async function unknownActor(
  { sight, policies }: { sight: Sight; policies: RealmPolicies },
  actor: Actor,
  meta: RequestMeta,
  receivers: IdSet,
): Promise<UnknownActor | undefined> {
  if (actor.isSystemBot || hasId(receivers, actor.userId)) return undefined;
  const policy = await policies.get(meta, false);
  const blind = await sight.blindTo(actor.userId, meta, policy);
  const to = [...blind].filter((id) => hasId(receivers, id));
  return to.length === 0 ? undefined : { to: idSet(to), shown: unknownUser(actor.userId, policy.host) };
}
