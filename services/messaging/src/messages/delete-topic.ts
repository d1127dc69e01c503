import { badRequest, messageChangeOperations, topicOfName } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { realmVersions } from '@natter/realm-policy';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { lockMessages } from '../model/changes/lock-messages.ts';
import { removeMessages } from '../model/changes/remove-messages.ts';
import { channelVersions, invalidChannelId } from '../model/channel-access.ts';
import { decideOnCurrent } from '../model/decide-on-current.ts';
import { audienceOf, withActor } from '../model/message-audience.ts';
import { isOpenTo } from '../model/subscription-periods.ts';
import { mayDeleteAny } from './delete-decision.ts';
import type { Sources } from './delete-message.ts';

export function deleteTopicHandlers({ database }: Owner, sources: Sources): Handlers {
  return [
    handleWrite(messageChangeOperations.deleteTopic, async (context, { stream_id, topic_name }) => {
      const { actor, meta } = context;
      const decide = async (fresh: boolean) => {
        const policy = await sources.policies.get(meta, fresh);
        const channel = await sources.channels.readable(actor, meta, stream_id, fresh);
        if (channel.is_archived) throw invalidChannelId();
        if (!mayDeleteAny(actor, channel, policy)) throw badRequest('Must be an organization administrator');
        return { channel, expected: { ...realmVersions(policy), ...channelVersions(channel) } };
      };
      const { channel, expected } = await decideOnCurrent(context, decide);
      const topic = topicOfName(topic_name.trim());
      const deletable = sql.fragment`m.realm_id = ${actor.realmId} AND m.channel_id = ${stream_id} AND lower(m.topic) = lower(${topic})
        AND ${isOpenTo(actor.userId, channel)}`;
      const removeSome = (isPart: boolean): Promise<{ complete: boolean }> => {
        const remove = async (work: Work) => {
          work.expectVersions(expected);
          const newest = await work.any(sql.type(z.object({ id: z.number() }))`
            SELECT m.id FROM messaging.message m WHERE ${deletable} ORDER BY m.id DESC LIMIT ${batchSize}`);
          const chosen = sql.array(
            newest.map(({ id }) => id),
            'int8',
          );
          // Without those that were moved or deleted meanwhile.
          const rows = await lockMessages(work, sql.fragment`m.id = ANY(${chosen}) AND ${deletable}`, batchSize);
          const ids = rows.map(({ id }) => id);
          const audience = withActor(await audienceOf(work, { channel, recipient_ids: null }, ids), actor.userId);
          await removeMessages(work, { channelId: stream_id, topic: rows.at(-1)?.topic ?? topic }, ids, audience);
          return { complete: newest.length < batchSize };
        };
        return context.write(remove, { isPart });
      };
      for (const end = performance.now() + longestMs; performance.now() < end; ) {
        const { left } = await database.one(sql.type(z.object({ left: z.number() }))`
          SELECT count(*) AS left FROM (SELECT FROM messaging.message m WHERE ${deletable} LIMIT ${batchSize}) found`);
        // The last batch stores the answer. A repeated request continues with the remaining messages.
        if (left < batchSize) return removeSome(false);
        await removeSome(true);
      }
      return { complete: false };
    }),
  ];
}

const batchSize = 100;
/** A request ends after this time; the next request deletes the rest. */
const longestMs = 20_000;
