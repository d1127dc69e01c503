import { emptyTopicDisplayName, inRegister } from '@natter/contracts';
import { type Database, type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { isMentioned } from '../model/read-state.ts';
import { largerThanAnyId } from '../model/reading/page.ts';
import { inHome } from '../model/reading/scope.ts';
import type { SnapshotFor } from '../model/snapshot-for.ts';
import { unreadMessages } from '../model/unread-messages.ts';
import { leftOut } from './archived.ts';

const maxUnread = 50_000;
const unreadRow = z.object({
  channel_id: z.number().nullable(),
  topic: z.string(),
  recipient_ids: z.array(z.number()).nullable(),
  /** Ids of the unread messages, in any order. */
  ids: z.array(z.number()),
  mentions: z.array(z.number()).nullable(),
  /** The number of unread messages in all conversations, also those above a limit. */
  found: z.number(),
  oldest: z.number(),
  /** Whether neither the channel nor the topic is muted. */
  is_in_home: z.boolean(),
});
type UnreadRow = z.infer<typeof unreadRow>;
const positionRow = z.object({ position: z.number() });

/**
 * `unread_msgs`: the newest unread messages by conversation, ids ascending. Also returns the number below which nothing
 * will become unread. It never exceeds the applied subscriptions, because a pending period may make older messages
 * unread.
 */
export async function unreadPart(
  executor: Executor,
  whom: SnapshotFor,
): Promise<{ part: Record<string, unknown>; readThrough: number }> {
  const { realmId, userId } = whom;
  const known = await executor.maybeOne(sql.type(positionRow)`
    SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = 'periods'`);
  const rows = await executor.any(sql.type(unreadRow)`
    SELECT m.*, ${inHome(userId)} AS is_in_home
    FROM (SELECT ${realmId}::int AS realm_id, u.channel_id, u.topic, u.recipient_ids, json_agg(u.id) AS ids,
      json_agg(u.id) FILTER (WHERE u.is_mentioned) AS mentions, min(u.found)::int AS found, min(u.id) AS oldest
    FROM (SELECT one.*, sum(octet_length(coalesce(conversation, topic))) OVER (ORDER BY id DESC) AS bytes,
        row_number() OVER (ORDER BY id DESC) AS rank, count(*) OVER () AS found
      FROM (SELECT m.id, m.channel_id, m.topic, m.recipient_ids, m.conversation, ${isMentioned(userId)} AS is_mentioned
        FROM ${unreadMessages(realmId, userId, { order: 'DESC' })} m LIMIT ${maxUnread + 1}) one) u
    WHERE u.rank <= ${maxUnread} AND u.bytes <= ${inRegister.unreadBytes}
    GROUP BY u.channel_id, u.topic, u.recipient_ids) m ORDER BY m.oldest`);
  const isCut = rows.reduce((sum, { ids }) => sum + ids.length, 0) < (rows[0]?.found ?? 0);
  const archived = await leftOut(executor, whom);
  const unread = rows.filter(({ channel_id }) => channel_id === null || !archived.has(channel_id));
  const [streams, pms, huddles] = [new Map<string, Listed>(), new Map<string, Listed>(), new Map<string, Listed>()];
  for (const row of unread) {
    const { map, key, make } = conversationOf(row, whom, { streams, pms, huddles });
    const listed = map.get(key) ?? make();
    map.set(key, listed);
    // A topic may have several spellings.
    for (const id of row.ids) listed.unread_message_ids.push(id);
  }
  for (const map of [streams, pms, huddles])
    for (const { unread_message_ids } of map.values()) unread_message_ids.sort((a, b) => a - b);
  const unread_msgs = {
    count: unread.reduce((sum, { ids, is_in_home }) => sum + (is_in_home ? ids.length : 0), 0),
    pms: [...pms.values()],
    streams: [...streams.values()],
    huddles: [...huddles.values()],
    mentions: unread.flatMap((row) => row.mentions ?? []).sort((a, b) => a - b),
    old_unreads_missing: isCut,
  };
  // Messages of archived channels stay unread.
  const oldest = rows[0]?.oldest ?? largerThanAnyId;
  return { part: { unread_msgs }, readThrough: isCut ? 0 : Math.min(oldest - 1, known?.position ?? 0) };
}

interface Listed {
  unread_message_ids: number[];
  [field: string]: unknown;
}

function conversationOf(
  row: UnreadRow,
  { userId, capabilities }: SnapshotFor,
  { streams, pms, huddles }: Record<'streams' | 'pms' | 'huddles', Map<string, Listed>>,
): { map: Map<string, Listed>; key: string; make: () => Listed } {
  if (row.channel_id !== null) {
    const topic = row.topic === '' && !capabilities.empty_topic_name ? emptyTopicDisplayName : row.topic;
    const make = () => ({ topic, stream_id: row.channel_id, unread_message_ids: [] });
    return { map: streams, key: `${row.channel_id} ${row.topic.toLowerCase()}`, make };
  }
  const participants = row.recipient_ids ?? [];
  const others = participants.filter((id) => id !== userId);
  if (others.length > 1)
    return {
      map: huddles,
      key: participants.join(','),
      make: () => ({ user_ids_string: participants.join(','), unread_message_ids: [] }),
    };
  const other = others[0] ?? userId;
  return {
    map: pms,
    key: String(other),
    make: () => ({ other_user_id: other, sender_id: other, unread_message_ids: [] }),
  };
}

export async function starredPart(
  executor: Executor,
  { realmId, userId }: SnapshotFor,
): Promise<Record<string, unknown>> {
  const rows = await executor.any(sql.type(z.object({ id: z.number() }))`
    SELECT message_id AS id FROM messaging.flag WHERE realm_id = ${realmId} AND user_id = ${userId} AND flag = 'starred'
    ORDER BY message_id DESC LIMIT ${inRegister.starredMessages}`);
  return { starred_messages: rows.map((row) => row.id).reverse() };
}

const recentDirectMessages = 1_000;
const recentRow = z.object({ max_message_id: z.number(), recipient_ids: z.array(z.number()) });

/** The conversations of the newest direct messages, the newest first. */
export async function recentConversationsPart(
  executor: Executor,
  { realmId, userId }: SnapshotFor,
): Promise<Record<string, unknown>> {
  const rows = await executor.any(sql.type(recentRow)`
    SELECT max_message_id, recipient_ids FROM (
      SELECT max(m.id) AS max_message_id, m.recipient_ids, sum(min(octet_length(m.conversation))) OVER (ORDER BY max(m.id) DESC) AS bytes FROM (
        SELECT message_id FROM messaging.direct_message WHERE realm_id = ${realmId} AND user_id = ${userId} ORDER BY message_id DESC LIMIT ${recentDirectMessages}
      ) d JOIN messaging.message m ON m.realm_id = ${realmId} AND m.id = d.message_id
      GROUP BY m.recipient_ids) found
    WHERE bytes <= ${inRegister.recentConversationsBytes} ORDER BY max_message_id DESC`);
  return {
    recent_private_conversations: rows.map(({ max_message_id, recipient_ids }) => ({
      max_message_id,
      user_ids: recipient_ids.filter((id) => id !== userId),
    })),
  };
}

/** After the register, so that the next one need not search messages that are permanently read. */
export async function raiseFloor(
  database: Database,
  { realmId, userId }: SnapshotFor,
  readThrough: number,
): Promise<void> {
  await database.run(sql.unsafe`
    INSERT INTO messaging.read_floor AS f (realm_id, user_id, floor) VALUES (${realmId}, ${userId}, ${readThrough})
    ON CONFLICT (realm_id, user_id) DO UPDATE SET floor = excluded.floor WHERE excluded.floor > f.floor`);
}
