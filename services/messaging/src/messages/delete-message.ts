import { badRequest, messageChangeOperations } from '@natter/contracts';
import { sql, VersionsChanged } from '@natter/database';
import { type RealmPolicies, realmVersions } from '@natter/realm-policy';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { removeMessages } from '../model/changes/remove-messages.ts';
import { type ChannelAccess, channelVersions } from '../model/channel-access.ts';
import { decideOnCurrent } from '../model/decide-on-current.ts';
import { type MessageAccess, requireChangeable } from '../model/message-access.ts';
import { audienceOf, withActor } from '../model/message-audience.ts';
import { ownership } from '../model/roles.ts';
import { mayDeleteAny, mayDeleteOwn, requireDeletionRight } from './delete-decision.ts';

export interface Sources {
  channels: ChannelAccess;
  messages: MessageAccess;
  policies: RealmPolicies;
}

const heldRow = z.object({ topic: z.string(), channel_id: z.number().nullable() });

export function deleteMessageHandlers({ database }: Owner, sources: Sources): Handlers {
  return [
    handleWrite(messageChangeOperations.deleteMessage, async (context, params) => {
      const { actor, meta } = context;
      const message = await sources.messages.readable(database, actor, meta, params.message_id);
      const decide = async (fresh: boolean) => {
        const policy = await sources.policies.get(meta, fresh);
        const channel =
          message.channel && fresh
            ? await sources.channels.readable(actor, meta, message.channel.channel_id, true)
            : message.channel;
        requireChangeable(channel);
        const isSender = message.sender_id === actor.userId;
        const dependsOnOwner =
          !isSender && !mayDeleteAny(actor, channel, policy) && mayDeleteOwn(actor, channel, policy);
        const { isOwn, expected: accountVersion } = dependsOnOwner
          ? await ownership(database, actor, message.sender_id)
          : { isOwn: isSender, expected: {} };
        requireDeletionRight({ actor, message, isOwn, channel, policy, now: Date.now() / 1000 });
        const expected = { ...realmVersions(policy), ...(channel ? channelVersions(channel) : {}), ...accountVersion };
        return { channel, expected };
      };
      const { channel, expected } = await decideOnCurrent(context, decide);
      return context.write(async (work) => {
        work.expectVersions(expected);
        // The decision may have used a later copy of the channel than the one by which the actor reads the message.
        if (message.channel) work.expectVersions(channelVersions(message.channel));
        const held = await work.maybeOne(sql.type(heldRow)`
          SELECT topic, channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR UPDATE`);
        if (!held) throw badRequest('Invalid message(s)');
        if (held.channel_id !== message.channel_id) throw new VersionsChanged(`message ${message.id}`, 'row');
        const where = channel ? { channelId: channel.channel_id, topic: held.topic } : undefined;
        const receivers = await audienceOf(work, { ...message, ...(channel ? { channel } : {}) }, [message.id]);
        const audience = withActor(receivers, actor.userId);
        await removeMessages(work, where, [message.id], audience);
        return {};
      });
    }),
  ];
}
