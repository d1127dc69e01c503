import { type Audience, badRequest, idSet, idsOf, messageChangeOperations } from '@natter/contracts';
import { BasisChanged, type Claim, sql } from '@natter/database';
import { type Handlers, handle, type Owner, type RealmPolicies, realmBasis } from '@natter/service-kit';
import { z } from 'zod';
import { type ChannelReach, channelBasis } from '../channel-reach.ts';
import { audienceOf, withHolders } from '../message-audience.ts';
import type { MessageReach } from '../message-reach.ts';
import { emptyIfNamedSo } from '../reading/narrow.ts';
import { isBotOf } from '../standing.ts';
import { mayDeleteAny, requireDeletionRight } from './delete-decision.ts';
import { removeMessages } from './remove-messages.ts';

interface Sources {
  channels: ChannelReach;
  messages: MessageReach;
  policies: RealmPolicies;
}

const heldRow = z.object({ topic: z.string(), channel_id: z.number().nullable() });
const batchSize = 100;
/** A call ends here; what is left goes with the next one. */
const longestMs = 20_000;

export function deleteMessageHandlers({ database, unitOfWork }: Owner, sources: Sources): Handlers {
  return [
    handle(messageChangeOperations.deleteMessage, async (context, params) => {
      const { actor, meta } = context;
      const message = await sources.messages.readable(database, actor, meta, params.message_id);
      const isOwn =
        message.sender_id === actor.userId || (await isBotOf(database, actor.realmId, message.sender_id, actor.userId));
      const decide = async (fresh: boolean) => {
        const policy = await sources.policies.get(meta, fresh);
        const channel =
          message.channel && fresh
            ? await sources.channels.readable(actor, meta, message.channel.channel_id, true)
            : message.channel;
        requireDeletionRight({ actor, message, isOwn, channel, policy, now: Date.now() / 1000 });
        return { channel, basis: { ...realmBasis(policy), ...(channel ? channelBasis(channel) : {}) } };
      };
      const { channel, basis } = await (context.attempt > 0 ? decide(true) : decide(false).catch(() => decide(true)));
      return unitOfWork({ realmId: actor.realmId, schema: 'messaging', claim: context.claim }, async (work) => {
        work.restOn({ ...actor.basis, ...basis });
        const held = await work.maybeOne(sql.type(heldRow)`
          SELECT topic, channel_id FROM messaging.message WHERE realm_id = ${work.realmId} AND id = ${message.id} FOR UPDATE`);
        if (!held) throw badRequest('Invalid message(s)');
        if (held.channel_id !== message.channel_id) throw new BasisChanged(`message ${message.id}`, 'row');
        const where = channel ? { channelId: channel.channel_id, topic: held.topic } : undefined;
        const told = await audienceOf(work, { ...message, ...(channel ? { channel } : {}) });
        const audience = withActor(told, actor.userId);
        await removeMessages(work, where, [message.id], audience);
        return {};
      });
    }),

    handle(messageChangeOperations.deleteTopic, async (context, { stream_id, topic_name }) => {
      const { actor, meta } = context;
      const decide = async (fresh: boolean) => {
        const policy = await sources.policies.get(meta, fresh);
        const channel = await sources.channels.readable(actor, meta, stream_id, fresh);
        if (!mayDeleteAny(actor, channel, policy)) throw badRequest('Must be an organization administrator');
        return { channel, basis: { ...realmBasis(policy), ...channelBasis(channel) } };
      };
      const { channel, basis } = await (context.attempt > 0 ? decide(true) : decide(false).catch(() => decide(true)));
      const topic = emptyIfNamedSo(topic_name.trim());
      const removeSome = (claim: Claim | undefined): Promise<{ complete: boolean }> =>
        unitOfWork({ realmId: actor.realmId, schema: 'messaging', claim }, async (work) => {
          work.restOn({ ...actor.basis, ...basis });
          const rows = await work.any(sql.type(z.object({ id: z.number(), topic: z.string() }))`
            SELECT id, topic FROM messaging.message WHERE realm_id = ${work.realmId} AND channel_id = ${stream_id} AND lower(topic) = lower(${topic})
            ORDER BY id DESC LIMIT ${batchSize} FOR UPDATE`);
          const ids = rows.map(({ id }) => id).reverse();
          const audience = withActor({ users: await withHolders(work, channel, ids) }, actor.userId);
          await removeMessages(work, { channelId: stream_id, topic: rows[0]?.topic ?? topic }, ids, audience);
          return { complete: ids.length < batchSize };
        });
      for (const end = Date.now() + longestMs; Date.now() < end; ) {
        const { left } = await database.one(sql.type(z.object({ left: z.number() }))`
          SELECT count(*) AS left FROM (SELECT FROM messaging.message
            WHERE realm_id = ${actor.realmId} AND channel_id = ${stream_id} AND lower(topic) = lower(${topic}) LIMIT ${batchSize}) m`);
        // The last batch is the one with the answer. A request that is repeated goes on with what is left.
        if (left < batchSize) return removeSome(context.claim);
        await removeSome(undefined);
      }
      return { complete: false };
    }),
  ];
}

/** Who deletes hears of it, subscribed or not. */
function withActor(audience: Audience, userId: number): Audience {
  return audience === 'realm' ? audience : { users: idSet([...idsOf(audience.users), userId]) };
}
