import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

export type SystemBot = 'Notification Bot' | 'Welcome Bot';

export interface Notice {
  from: SystemBot;
  to: { userIds: readonly number[] } | { channelId: number; topic: string };
  content: string;
  /** The notice announces that a topic was resolved or reopened. */
  isResolution?: boolean;
  /** The user whose action the notice reports: it arrives read for them. */
  readBy?: number;
}

/**
 * Queues a bot's message that is a consequence of a change. It is stored in the transaction of the change and sent by a
 * scheduler like any scheduled message: exactly once, under the same rules.
 */
export async function queueNotice(work: Work, notice: Notice): Promise<void> {
  const bot = await botOf(work, work.realmId, notice.from);
  if (bot === undefined) return;
  const { to } = notice;
  const channelId = 'channelId' in to ? to.channelId : null;
  const recipients = 'userIds' in to ? sql.array([...to.userIds, bot], 'int4') : sql.fragment`NULL`;
  await work.run(sql.unsafe`
    INSERT INTO messaging.scheduled_message (realm_id, user_id, sender_id, kind, channel_id, recipient_ids, topic, content, due_at, client, is_resolution, read_by)
    VALUES (${work.realmId}, ${bot}, ${bot}, 'notice', ${channelId}, ${recipients}, ${'topic' in to ? to.topic : ''}, ${notice.content},
      clock_timestamp(), 'Internal', ${notice.isResolution ?? false}, ${notice.readBy ?? null})`);
}

export async function botOf(executor: Executor, realmId: number, name: SystemBot): Promise<number | undefined> {
  const bot = await executor.maybeOne(sql.type(z.object({ user_id: z.number() }))`
    SELECT user_id FROM messaging.system_bot WHERE realm_id = ${realmId} AND name = ${name}`);
  return bot?.user_id;
}
