import { badRequest, invitationOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { hasContentAccess } from '@natter/permissions';
import { type Handlers, handle } from '@natter/service-kit';
import { z } from 'zod';
import { mayAddOthers } from '../model/authorization.ts';
import { channelColumns, channelRow } from '../model/channel-row.ts';
import { hasRealmPermission, type Service } from '../model/deciding.ts';

const knownRow = channelRow.extend({ is_subscribed: z.boolean() });

/**
 * Checks that each channel of an invitation is a default channel, or one to which the inviter may add subscribers. An
 * inviter who may add subscribers nowhere may name no channels.
 */
export function invitedChannelsHandlers({ owner: { database }, policies }: Service): Handlers {
  return [
    handle(invitationOperations.checkInvitedChannels, async ({ actor, meta }, { stream_ids }) => {
      if (!actor) throw new Error('checking the channels of an invitation requires an actor');
      const decision = { actor, policy: await policies.get(meta, true) };
      const channels = await database.any(sql.type(knownRow)`
        SELECT ${channelColumns}, coalesce(s.is_active, false) AS is_subscribed FROM channels.channel c
        LEFT JOIN channels.subscription s ON s.channel_id = c.id AND s.user_id = ${actor.userId}
        WHERE c.realm_id = ${meta.realmId} AND c.id = ANY(${sql.array(stream_ids, 'int4')}) AND NOT c.is_archived`);
      const known = channels.filter((channel) => hasContentAccess(channel, actor, channel.is_subscribed));
      const hidden = stream_ids.find((id) => !known.some((channel) => channel.id === id));
      if (hidden !== undefined) throw badRequest(`Invalid channel ID ${hidden}. No invites were sent.`);
      const addable = known.filter((channel) => mayAddOthers(decision, channel, channel.is_subscribed));
      if (addable.length === 0 && !hasRealmPermission(decision, 'can_add_subscribers_group'))
        throw badRequest('You do not have permission to subscribe other users to channels.');
      if (known.some((channel) => !channel.is_default && !addable.includes(channel)))
        throw badRequest('You do not have permission to subscribe other users to channels.');
      return {};
    }),
  ];
}
