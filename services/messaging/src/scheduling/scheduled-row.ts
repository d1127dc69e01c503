import {
  emptyTopicDisplayName,
  idSet,
  type LogEvent,
  type Reminder,
  type ScheduledMessage,
  totals,
} from '@natter/contracts';
import { type Executor, requireRoom, sql, type Work } from '@natter/database';
import { z } from 'zod';

export const scheduledRow = z.object({
  id: z.number(),
  user_id: z.number(),
  sender_id: z.number(),
  kind: z.enum(['message', 'reminder', 'notice']),
  state: z.enum(['waiting', 'sent', 'failed']),
  channel_id: z.number().nullable(),
  recipient_ids: z.array(z.number()).nullable(),
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
  due: z.number(),
  is_read_by_sender: z.boolean(),
  client: z.string(),
  revision: z.number(),
  reminder_target_id: z.number().nullable(),
  is_resolution: z.boolean(),
});
export type ScheduledRow = z.infer<typeof scheduledRow>;

/** `due` is in seconds since 1970. */
export const scheduledColumns = sql.fragment`id, user_id, sender_id, kind, state, channel_id, recipient_ids, topic, content, rendered_content,
  extract(epoch FROM due_at)::float8 AS due, is_read_by_sender, client, revision, reminder_target_id, is_resolution`;

/** Call it after a row was added or changed. */
export const requireScheduledRoom = (work: Work, userId: number, kind: 'message' | 'reminder'): Promise<void> =>
  requireRoom(
    work,
    kind === 'message' ? totals.scheduledMessages : totals.reminders,
    sql.fragment`messaging.scheduled_message WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND kind = ${kind} AND state <> 'sent'`,
    sql.fragment`octet_length(content) + octet_length(rendered_content)`,
  );

/** What is still to come of a user, failed ones included. */
export const pendingOf = (
  executor: Executor,
  realmId: number,
  userId: number,
  kind: 'message' | 'reminder',
): Promise<ScheduledRow[]> =>
  executor.any(sql.type(scheduledRow)`
    SELECT ${scheduledColumns} FROM messaging.scheduled_message
    WHERE realm_id = ${realmId} AND user_id = ${userId} AND kind = ${kind} AND state <> 'sent' ORDER BY due_at, id`);

/** The other participants; oneself where there are none. */
function recipientsShown({ recipient_ids, user_id }: ScheduledRow): number[] {
  const others = (recipient_ids ?? []).filter((id) => id !== user_id);
  return others.length > 0 ? others : [user_id];
}

export function toScheduledMessage(row: ScheduledRow): ScheduledMessage {
  const common = {
    scheduled_message_id: row.id,
    content: row.content,
    rendered_content: row.rendered_content,
    scheduled_delivery_timestamp: Math.floor(row.due),
    failed: row.state === 'failed',
  };
  if (row.channel_id !== null) return { ...common, type: 'stream', to: row.channel_id, topic: row.topic };
  return { ...common, type: 'private', to: recipientsShown(row) };
}

export const toReminder = (row: ScheduledRow): Reminder => ({
  reminder_id: row.id,
  type: 'private',
  to: [row.user_id],
  content: row.content,
  rendered_content: row.rendered_content,
  scheduled_delivery_timestamp: Math.floor(row.due),
  failed: row.state === 'failed',
  reminder_target_message_id: row.reminder_target_id ?? 0,
});

/** As clients without the `empty_topic_name` capability see it. */
export const withTopicName = (message: ScheduledMessage): ScheduledMessage =>
  message.topic === '' ? { ...message, topic: emptyTopicDisplayName } : message;

export function storedEvent(op: 'add' | 'update', row: ScheduledRow): LogEvent {
  const audience = { users: idSet([row.user_id]) };
  if (row.kind === 'reminder') return { type: 'reminders', op, body: { reminders: [toReminder(row)] }, audience };
  const message = toScheduledMessage(row);
  const named = withTopicName(message);
  const bodyOf = (shown: ScheduledMessage): Record<string, unknown> =>
    op === 'add' ? { scheduled_messages: [shown] } : { scheduled_message: shown };
  return {
    type: 'scheduled_messages',
    op,
    body: bodyOf(message),
    audience,
    ...(named === message ? {} : { forms: [{ capability: 'empty_topic_name', is: false, patch: bodyOf(named) }] }),
  };
}

export function removedEvent({ id, user_id, kind }: Pick<ScheduledRow, 'id' | 'user_id' | 'kind'>): LogEvent {
  const audience = { users: idSet([user_id]) };
  if (kind === 'reminder') return { type: 'reminders', op: 'remove', body: { reminder_id: id }, audience };
  return { type: 'scheduled_messages', op: 'remove', body: { scheduled_message_id: id }, audience };
}
