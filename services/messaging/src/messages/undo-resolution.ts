import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { lockMessages } from '../model/changes/lock-messages.ts';
import { removeMessages } from '../model/changes/remove-messages.ts';
import type { PostingRules } from '../model/channel-cache.ts';
import { audienceOf, withActor } from '../model/message-audience.ts';
import type { Place } from '../model/user-topics.ts';

/** A topic that is resolved and reopened within this time gets no notice about either. */
const undoSeconds = 60;

/**
 * Drops the notice that a topic was resolved or reopened, if it is not sent yet; returns whether there was one. Waits for
 * a delivery of the notice. Call it before the messages of the topic are locked, so that they include a notice that was
 * sent meanwhile.
 */
export async function dropWaitingNotice(work: Work, { channelId, topic }: Place): Promise<boolean> {
  const dropped = await work.run(sql.unsafe`
    DELETE FROM messaging.scheduled_message
    WHERE realm_id = ${work.realmId} AND state = 'waiting' AND kind = 'notice' AND is_resolution
      AND channel_id = ${channelId} AND lower(topic) = lower(${topic})`);
  return dropped > 0;
}

const noticeRow = z.object({ id: z.number() });

/**
 * Deletes the newest message of a topic if it is a recent notice that the topic was resolved or reopened; returns whether
 * it was.
 */
export async function removeRecentNotice(
  work: Work,
  channel: PostingRules,
  topic: string,
  userId: number,
): Promise<boolean> {
  const inTopic = sql.fragment`m.channel_id = ${channel.channel_id} AND lower(m.topic) = lower(${topic})`;
  const notice = await work.maybeOne(sql.type(noticeRow)`
    SELECT s.message_id AS id FROM messaging.scheduled_message s
    WHERE s.realm_id = ${work.realmId} AND s.state = 'sent' AND s.is_resolution
      AND s.sent_at > statement_timestamp() - make_interval(secs => ${undoSeconds})
      AND s.message_id = (SELECT m.id FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND ${inTopic} ORDER BY m.id DESC LIMIT 1)`);
  if (!notice) return false;
  const [held] = await lockMessages(work, sql.fragment`m.id = ${notice.id} AND ${inTopic}`, 1);
  if (!held) return false;
  const audience = await audienceOf(work, { channel, recipient_ids: null }, [held.id]);
  const where = { channelId: channel.channel_id, topic: held.topic };
  await removeMessages(work, where, [held.id], withActor(audience, userId));
  return true;
}
