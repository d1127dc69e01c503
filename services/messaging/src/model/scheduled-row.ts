import {
  type Actor,
  badRequest,
  emptyTopicDisplayName,
  type Form,
  idSet,
  type LogEvent,
  type Reminder,
  type ScheduledMessage,
  totals,
} from '@natter/contracts';
import { type Database, type Executor, requireRoom, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { accountsOfPerson } from './owner-of.ts';

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
  read_by: z.number().nullable(),
  linked_channel_ids: z.array(z.number()).nullable(),
  bot_owner_id: z.number().nullable(),
});
export type ScheduledRow = z.infer<typeof scheduledRow>;

/** `due` is in seconds since 1970. */
export const scheduledColumns = sql.fragment`id, user_id, sender_id, kind, state, channel_id, recipient_ids, topic, content, rendered_content,
  extract(epoch FROM due_at)::float8 AS due, is_read_by_sender, client, revision, reminder_target_id, is_resolution, read_by, linked_channel_ids, bot_owner_id`;

/** Those of a person and of their bots count together. Call it after a row was added or changed. */
export const requireScheduledRoom = (work: Work, userId: number, kind: 'message' | 'reminder'): Promise<void> =>
  requireRoom(
    work,
    kind === 'message' ? totals.scheduledMessages : totals.reminders,
    sql.fragment`messaging.scheduled_message WHERE realm_id = ${work.realmId}
      AND user_id = ANY(${accountsOfPerson(work.realmId, userId)}) AND kind = ${kind} AND state <> 'sent'`,
    sql.fragment`octet_length(content) + octet_length(rendered_content) + 8 * coalesce(cardinality(recipient_ids), 0)`,
  );

/** Pending messages or reminders of a user, including failed ones. */
export const pendingOf = (
  executor: Executor,
  realmId: number,
  userId: number,
  kind: 'message' | 'reminder',
): Promise<ScheduledRow[]> =>
  executor.any(sql.type(scheduledRow)`
    SELECT ${scheduledColumns} FROM messaging.scheduled_message
    WHERE realm_id = ${realmId} AND user_id = ${userId} AND kind = ${kind} AND state <> 'sent' ORDER BY due_at, id`);

/** The other participants; the user if there are none. */
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

/** The form for clients without the `empty_topic_name` capability. */
export const withTopicName = (message: ScheduledMessage): ScheduledMessage =>
  message.topic === '' ? { ...message, topic: emptyTopicDisplayName } : message;

export function storedEvent(op: 'add' | 'update', row: ScheduledRow): LogEvent {
  const audience = { users: idSet([row.user_id]) };
  if (row.kind === 'reminder')
    return { type: 'reminders', op: 'add', body: { reminders: [toReminder(row)] }, audience };
  const message = toScheduledMessage(row);
  const named = withTopicName(message);
  const formsOf = (patch: Record<string, unknown>): { forms?: Form[] } =>
    named === message ? {} : { forms: [{ capability: 'empty_topic_name', is: false, patch }] };
  const type = 'scheduled_messages';
  if (op === 'add')
    return { type, op, body: { scheduled_messages: [message] }, audience, ...formsOf({ scheduled_messages: [named] }) };
  return { type, op, body: { scheduled_message: message }, audience, ...formsOf({ scheduled_message: named }) };
}

export function removedEvent({ id, user_id, kind }: Pick<ScheduledRow, 'id' | 'user_id' | 'kind'>): LogEvent {
  const audience = { users: idSet([user_id]) };
  if (kind === 'reminder') return { type: 'reminders', op: 'remove', body: { reminder_id: id }, audience };
  return { type: 'scheduled_messages', op: 'remove', body: { scheduled_message_id: id }, audience };
}

/** Deletes a pending message or reminder; returns whether it existed. */
export async function deleteOwn(work: Work, actor: Actor, kind: 'message' | 'reminder', id: number): Promise<boolean> {
  const gone = await work.run(sql.unsafe`
    DELETE FROM messaging.scheduled_message
    WHERE realm_id = ${work.realmId} AND user_id = ${actor.userId} AND kind = ${kind} AND id = ${id} AND state <> 'sent'`);
  if (gone > 0) work.emit(removedEvent({ id, user_id: actor.userId, kind }));
  return gone > 0;
}

export async function requireFuture(database: Database, timestamp: number): Promise<void> {
  const { now } = await database.one(
    sql.type(z.object({ now: z.number() }))`SELECT extract(epoch FROM clock_timestamp())::float8 AS now`,
  );
  if (timestamp <= now) throw notInFuture();
}
export const notInFuture = () => badRequest('Scheduled delivery time must be in the future.');
