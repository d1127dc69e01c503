import { type Audience, hasId, idSet, idsOf } from '@natter/contracts';
import type { Work } from '@natter/database';
import type { PostingRules } from '../model/channel-cache.ts';
import { expectGroups } from '../model/group-versions.ts';
import type { ReadableMessage } from '../model/message-access.ts';
import { audienceOf } from '../model/message-audience.ts';
import { guestsAmong, requireRoles } from '../model/roles.ts';
import { holdersAmong } from '../model/sending/group-closure.ts';
import type { Change } from './change-decision.ts';

/** The users who receive the change, and those who lose access because they may not read the target. */
export async function receivers(
  work: Work,
  message: ReadableMessage,
  { target }: Change,
  messageIds: readonly number[],
): Promise<{ audience: Audience; losers: number[] }> {
  const audience = await audienceOf(work, message, messageIds);
  if (!message.channel || !target || audience === 'realm') return { audience, losers: [] };
  const before = idsOf(audience.users);
  const readers = await readersAmong(work, target, before);
  return {
    audience: { users: idSet([...before.filter((id) => readers.has(id)), ...idsOf(target.subscribers)]) },
    losers: before.filter((id) => !readers.has(id)),
  };
}

/** The subset of users who may read the channel. */
export async function readersAmong(
  work: Work,
  channel: PostingRules,
  userIds: readonly number[],
): Promise<Set<number>> {
  const others = userIds.filter((id) => !hasId(channel.subscribers, id));
  const subscribed = userIds.filter((id) => hasId(channel.subscribers, id));
  if (others.length === 0 || channel.is_web_public) return new Set(userIds);
  if (channel.is_private) await expectGroups(work);
  else await requireRoles(work, others);
  const guests = await guestsAmong(work, work.realmId, others);
  const members = others.filter((id) => !guests.has(id));
  if (!channel.is_private) return new Set([...subscribed, ...members]);
  const { can_subscribe_group, can_add_subscribers_group } = channel.permissions;
  const allowed = [
    ...(await holdersAmong(work, work.realmId, can_subscribe_group, members)),
    ...(await holdersAmong(work, work.realmId, can_add_subscribers_group, members)),
  ];
  return new Set([...subscribed, ...allowed]);
}
