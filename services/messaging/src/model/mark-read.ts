import { emptyTopicDisplayName, eventForUsers, type Form, idSet, type UnreadDetails } from '@natter/contracts';
import { type Fragment, lockFor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { blocksOf } from './blocks.ts';
import { unreadMessages } from './unread-messages.ts';

const idRow = z.object({ id: z.number() });
/** Maximum number of messages in an event. */
const perEvent = 10_000;

/** Sets the read bits of these messages, and clears their unread flags. */
async function setRead(work: Work, userId: number, messageIds: readonly number[]): Promise<void> {
  for (const { block, bits } of blocksOf(messageIds))
    await work.run(sql.unsafe`
      INSERT INTO messaging.read_block AS b (realm_id, user_id, block, bits) VALUES (${work.realmId}, ${userId}, ${block}, ${bits}::bit(4096))
      ON CONFLICT (realm_id, user_id, block) DO UPDATE SET bits = b.bits | excluded.bits`);
  await work.run(sql.unsafe`
    DELETE FROM messaging.flag WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND flag = 'unread' AND message_id = ANY(${sql.array([...messageIds], 'int8')})`);
}

/**
 * Clears the read bits, and flags messages as unread that other rules would count as read: own ones, muted ones, those
 * below the floor.
 */
export async function setUnread(work: Work, userId: number, messageIds: readonly number[]): Promise<void> {
  for (const { block, bits } of blocksOf(messageIds))
    await work.run(sql.unsafe`
      UPDATE messaging.read_block SET bits = bits & ~(${bits}::bit(4096)) WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND block = ${block}`);
  await work.run(sql.unsafe`
    INSERT INTO messaging.flag (realm_id, user_id, flag, message_id)
    SELECT ${work.realmId}, ${userId}, 'unread', id FROM unnest(${sql.array([...messageIds], 'int8')}) id ON CONFLICT DO NOTHING`);
}

/** Marks messages as read and notifies the user's clients. */
export async function markRead(work: Work, userId: number, messageIds: readonly number[]): Promise<void> {
  if (messageIds.length === 0) return;
  await setRead(work, userId, messageIds);
  for (let from = 0; from < messageIds.length; from += perEvent)
    emitFlags(work, userId, { op: 'add', flag: 'read' }, messageIds.slice(from, from + perEvent));
}

export function emitFlags(
  work: Work,
  userId: number,
  { op, flag }: { op: 'add' | 'remove'; flag: string },
  messages: readonly number[],
): void {
  const body = { flag, messages, all: false } as const;
  if (op === 'add') work.emit(eventForUsers('update_message_flags/add', { operation: op, ...body }, [userId]));
  else work.emit(eventForUsers('update_message_flags/remove', { operation: op, ...body }, [userId]));
}

const withoutEmptyTopics = (message_details: Record<string, UnreadDetails>): Form => ({
  capability: 'empty_topic_name',
  is: false,
  patch: { message_details },
});

/** Announces messages that became unread, with the data that a client needs to count messages it has not loaded. */
export function emitUnread(
  work: Work,
  userId: number,
  messages: readonly number[],
  details: Record<string, UnreadDetails>,
): void {
  const renamed = Object.entries(details).flatMap(([id, one]) =>
    one.type === 'stream' && one.topic === '' ? [[id, { ...one, topic: emptyTopicDisplayName }] as const] : [],
  );
  work.emit({
    type: 'update_message_flags',
    op: 'remove',
    body: { operation: 'remove', flag: 'read', messages, all: false, message_details: details },
    audience: { users: idSet([userId]) },
    // The details may be large, so they are stored a second time only if they differ.
    ...(renamed.length > 0 ? { forms: [withoutEmptyTopics({ ...details, ...Object.fromEntries(renamed) })] } : {}),
  });
}

/** Serializes flag changes of a user, so that events match the order of the changes. */
export const lockFlags = (work: Work, userId: number): Promise<void> => lockFor(work, 'flags', userId);

/** Channels that a user left, and the number of the event. */
export interface Left {
  number: number;
  channelIds: readonly number[];
}

/**
 * Messages that were in these channels when the user left are no longer unread: at most `limit`, the oldest ones. Returns how
 * many were unread. A message that was moved since then was where it had been sent: the user may have received it elsewhere
 * before it was moved to one of the channels, and may not see the place to which it was moved from one.
 */
export async function readWhatIsLeft(
  work: Work,
  userId: number,
  { number, channelIds }: Left,
  limit?: number,
): Promise<number> {
  await lockFlags(work, userId);
  const isIn = (channel: Fragment) => sql.fragment`${channel} = ANY(${sql.array([...channelIds], 'int4')})`;
  const where = sql.fragment`m.id < ${number} AND CASE WHEN EXISTS (
    SELECT FROM messaging.arrival a WHERE a.realm_id = m.realm_id AND a.message_id = m.id AND a.number > ${number})
    THEN ${isIn(sql.fragment`m.sent_channel_id`)} ELSE ${isIn(sql.fragment`m.channel_id`)} END`;
  const rows = await work.any(sql.type(idRow)`
    SELECT m.id FROM ${unreadMessages(work.realmId, userId, { where, order: 'ASC' })} m LIMIT ${limit ?? null}::int`);
  await markRead(
    work,
    userId,
    rows.map((row) => row.id),
  );
  return rows.length;
}

/** Messages of a muted user before `end` are no longer unread. */
export async function readWhatIsMuted(work: Work, userId: number, mutedId: number, end: number): Promise<void> {
  await lockFlags(work, userId);
  const where = sql.fragment`m.sender_id = ${mutedId} AND m.id < ${end}`;
  const rows = await work.any(sql.type(idRow)`
    SELECT m.id FROM ${unreadMessages(work.realmId, userId, { where, order: 'ASC' })} m`);
  await markRead(
    work,
    userId,
    rows.map((row) => row.id),
  );
}
