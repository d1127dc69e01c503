import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

export type SystemBot = 'Notification Bot' | 'Welcome Bot';

export interface Notice {
  from: SystemBot;
  to: { userIds: readonly number[] } | { channelId: number; topic: string };
  content: string;
  /** Says that a topic is resolved, or no longer. */
  isResolution?: boolean;
}

/**
 * A bot's message that follows from a change. It is stored in the transaction of the change, and sent by a scheduler like
 * anything that is due: exactly once, under the same rules.
 */
export async function queueNotice(work: Work, notice: Notice): Promise<void> {
  const bot = await botOf(work, work.realmId, notice.from);
  if (bot === undefined) return;
  const { to } = notice;
  const channelId = 'channelId' in to ? to.channelId : null;
  const recipients = 'userIds' in to ? sql.array([...to.userIds, bot], 'int4') : sql.fragment`NULL`;
  await work.run(sql.unsafe`
    INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, kind, channel_id, recipient_ids, topic, content, due_at, client, is_resolution)
    VALUES (${work.realmId}, ${bot}, ${bot}, 'notice', ${channelId}, ${recipients}, ${'topic' in to ? to.topic : ''}, ${notice.content},
      clock_timestamp(), 'Internal', ${notice.isResolution ?? false})`);
}

export async function botOf(executor: Executor, realmId: number, name: SystemBot): Promise<number | undefined> {
  const bot = await executor.maybeOne(sql.type(z.object({ user_id: z.number() }))`
    SELECT user_id FROM messaging.system_bot WHERE realm_id = ${realmId} AND name = ${name}`);
  return bot?.user_id;
}
