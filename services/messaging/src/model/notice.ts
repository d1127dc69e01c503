import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { NoticeText } from './notice-text.ts';

export type SystemBot = 'Notification Bot' | 'Welcome Bot';

export interface Notice {
  from: SystemBot;
  /** `each`: a message of its own to each of these users. */
  to: { userIds: readonly number[] } | { each: readonly number[] } | { channelId: number; topic: string };
  content: NoticeText;
  /** The notice announces that a topic was resolved or reopened. */
  isResolution?: boolean;
  /** The user whose action the notice reports: it arrives read for them. */
  readBy?: number;
}

/**
 * Queues a bot's message that is a consequence of a change. It is stored in the transaction of the change and sent by a
 * scheduler like any scheduled message: exactly once, under the same rules.
 */
export async function queueNotice(
  work: Work,
  { from, to, content, isResolution = false, readBy }: Notice,
): Promise<void> {
  const [channelId, topic] = 'channelId' in to ? [to.channelId, to.topic] : [null, ''];
  const copies = sql.array('each' in to ? [...to.each] : [null], 'int4');
  const recipients =
    'channelId' in to
      ? sql.fragment`NULL`
      : 'each' in to
        ? sql.fragment`ARRAY[copy.user_id, bot.user_id]`
        : sql.fragment`${sql.array([...to.userIds], 'int4')} || bot.user_id`;
  await work.run(sql.unsafe`
    INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, kind, channel_id, recipient_ids, topic, content, linked_channel_ids, due_at, client, is_resolution, read_by)
    SELECT ${work.realmId}, bot.user_id, bot.user_id, 'notice', ${channelId}::int4, ${recipients}, ${topic}, ${content.markdown}, ${sql.array([...content.channelIds], 'int4')},
      clock_timestamp(), 'Internal', ${isResolution}::boolean, ${readBy ?? null}::int4
    FROM messaging.system_bot bot, unnest(${copies}) WITH ORDINALITY AS copy (user_id, number)
    WHERE bot.realm_id = ${work.realmId} AND bot.name = ${from} ORDER BY copy.number`);
}

export async function botOf(executor: Executor, realmId: number, name: SystemBot): Promise<number | undefined> {
  const bot = await executor.maybeOne(sql.type(z.object({ user_id: z.number() }))`
    SELECT user_id FROM messaging.system_bot WHERE realm_id = ${realmId} AND name = ${name}`);
  return bot?.user_id;
}
