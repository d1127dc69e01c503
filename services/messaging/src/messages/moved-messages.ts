import { badRequest, ChatError, moves, totals } from '@natter/contracts';
import { requireRoom, sql, VersionsChanged, type Work } from '@natter/database';
import { z } from 'zod';
import { lockMessages } from '../model/changes/lock-messages.ts';
import { replaceJob } from '../model/preview-job.ts';
import type { RenderedContent } from '../model/sending/render-content.ts';
import { isSeenBy } from '../model/subscription-periods.ts';
import type { Change } from './change-decision.ts';

export const anchorRow = z.object({
  id: z.number(),
  sender_id: z.number(),
  channel_id: z.number().nullable(),
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
  sent: z.number(),
  has_widget: z.boolean(),
});
export type Anchor = z.infer<typeof anchorRow>;

export const anchorColumns = sql.fragment`m.id, m.sender_id, m.channel_id, m.topic, m.content, m.rendered_content, extract(epoch FROM m.sent_at)::float8 AS sent,
  EXISTS (SELECT FROM messaging.submessage s WHERE s.realm_id = m.realm_id AND s.message_id = m.id) AS has_widget`;

/** Locks the message in the state on which the change was decided. */
export async function lockAnchor(work: Work, decided: Anchor): Promise<void> {
  const now = await work.maybeOne(sql.type(anchorRow.omit({ has_widget: true }))`
    SELECT m.id, m.sender_id, m.channel_id, m.topic, m.content, m.rendered_content, extract(epoch FROM m.sent_at)::float8 AS sent
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.id = ${decided.id} FOR UPDATE`);
  if (!now || now.channel_id !== decided.channel_id || now.topic !== decided.topic || now.content !== decided.content)
    throw new VersionsChanged(`message ${decided.id}`, 'row');
}

/** The messages that a change moves; if history is protected, only those that the mover can see. */
const movedBy = (
  anchor: Anchor,
  { mode }: Change,
  onlySeenBy: number | undefined,
) => sql.fragment`m.channel_id = ${anchor.channel_id} AND lower(m.topic) = lower(${anchor.topic})
    AND m.id >= ${mode === 'change_later' ? anchor.id : 0}
    ${onlySeenBy === undefined ? sql.fragment`` : sql.fragment`AND ${isSeenBy(onlySeenBy)}`}`;

/** How many messages a change moves. Refuses it if these are too many, or if one of them is too old. Locks none. */
export async function countMovable(
  work: Work,
  anchor: Anchor,
  change: Change,
  onlySeenBy: number | undefined,
): Promise<number> {
  const { movableSince = 0 } = change;
  const counted = await work.one(sql.type(movableRow)`
    SELECT count(*) AS total, count(*) FILTER (WHERE sent >= ${movableSince}) AS allowed, min(id) FILTER (WHERE sent >= ${movableSince}) AS first
    FROM (SELECT m.id, extract(epoch FROM m.sent_at)::float8 AS sent FROM messaging.message m
      WHERE m.realm_id = ${work.realmId} AND ${movedBy(anchor, change, onlySeenBy)} ORDER BY m.id LIMIT ${moves.perRequest + 1}) found`);
  requireMovable(counted);
  return counted.total;
}

/** Messages that may arrive in the topic between the count and the locks. */
const maxArriving = 1_000;

/** Locks the messages that a change moves, of which `counted` were found before. */
export async function lockMoved(
  work: Work,
  anchor: Anchor,
  change: Change,
  { counted, onlySeenBy }: { counted: number; onlySeenBy: number | undefined },
): Promise<number[]> {
  if (change.mode === 'change_one') return [anchor.id];
  const { movableSince = 0 } = change;
  const most = Math.min(counted + maxArriving, moves.perRequest);
  const rows = await lockMessages(work, movedBy(anchor, change, onlySeenBy), most + 1);
  // Messages may have been moved into the topic since they were counted.
  if (rows.length > most || rows.some(({ sent }) => sent < movableSince))
    throw new VersionsChanged(`messages of the topic of ${anchor.id}`, 'row');
  return rows.map(({ id }) => id);
}

const movableRow = z.object({ total: z.number(), allowed: z.number(), first: z.number().nullable() });

function requireMovable({ total, allowed, first }: z.infer<typeof movableRow>): void {
  if (total > moves.perRequest)
    throw badRequest(
      `A request can move at most ${moves.perRequest} messages, and this topic has more. Move its latest messages first.`,
    );
  if (allowed === 0 && total > 0) throw badRequest('The time limit for moving this topic has passed.');
  if (allowed < total)
    throw new ChatError(
      'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
      `You only have permission to move the ${allowed}/${total} most recent messages in this topic.`,
      {
        first_message_id_allowed_to_move: first,
        total_messages_in_topic: total,
        total_messages_allowed_to_move: allowed,
      },
    );
}

/** A change by a user, and the messages that it moves or edits. */
interface Written {
  userId: number;
  anchor: Anchor;
  change: Change;
  messageIds: readonly number[];
  rendered: RenderedContent | undefined;
}

/**
 * Writes the change and the previous values; returns its time in seconds. Moves never use up the room for edits of the
 * content: of a message with the maximum number of moves, the newest one and this one become one entry by this mover.
 */
export async function writeChange(
  work: Work,
  { userId, anchor, change, messageIds, rendered }: Written,
): Promise<number> {
  const { now } = await work.one(
    sql.type(z.object({ now: z.number() }))`SELECT floor(extract(epoch FROM clock_timestamp()))::float8 AS now`,
  );
  const channelId = change.target?.channel_id ?? null;
  const isMove = change.topic !== undefined || change.target !== undefined;
  // A request that changes the content changes only one message, the anchor.
  const isEdit = change.content !== undefined;
  const ids = sql.array([...messageIds], 'int8');
  await work.run(sql.unsafe`
    WITH joined AS (
      DELETE FROM messaging.message_edit WHERE id = ANY (ARRAY(
        SELECT (SELECT e.id FROM messaging.message_edit e WHERE e.realm_id = ${work.realmId} AND e.message_id = moved.id AND e.prev_content IS NULL
          ORDER BY e.id OFFSET ${moves.inHistory - 1} LIMIT 1)
        FROM unnest(${ids}) moved (id) WHERE ${!isEdit}))
      RETURNING message_id, prev_topic, topic, prev_channel_id, channel_id)
    INSERT INTO messaging.message_edit (realm_id, message_id, user_id, edited_at, prev_content, prev_rendered_content, prev_topic, topic, prev_channel_id, channel_id)
    SELECT m.realm_id, m.id, ${userId}, to_timestamp(${now}), CASE WHEN ${isEdit} THEN m.content END, CASE WHEN ${isEdit} THEN m.rendered_content END,
      coalesce(joined.prev_topic, CASE WHEN ${change.topic !== undefined} THEN m.topic END), coalesce(${change.topic ?? null}::text, joined.topic),
      coalesce(joined.prev_channel_id, CASE WHEN ${channelId !== null} THEN m.channel_id END), coalesce(${channelId}::int, joined.channel_id)
    FROM messaging.message m LEFT JOIN joined ON joined.message_id = m.id
    WHERE m.realm_id = ${work.realmId} AND m.id = ANY(${ids})`);
  if (isEdit)
    await requireRoom(
      work,
      totals.edits,
      sql.fragment`messaging.message_edit WHERE realm_id = ${work.realmId} AND message_id = ${anchor.id} AND prev_content IS NOT NULL`,
      sql.fragment`octet_length(prev_content) + coalesce(octet_length(prev_rendered_content), 0)`,
    );
  if (isMove)
    await work.run(sql.unsafe`
      UPDATE messaging.message SET topic = coalesce(${change.topic ?? null}, topic), channel_id = coalesce(${channelId}::int, channel_id)
      WHERE realm_id = ${work.realmId} AND id = ANY(${ids})`);
  // Present subscribers can see messages that were moved in; later subscribers of a protected history cannot.
  if (channelId !== null)
    work.numbered(sql.unsafe`
      INSERT INTO messaging.arrival (realm_id, message_id, number)
      SELECT ${work.realmId}, id, log.last_number(${work.realmId}) FROM unnest(${ids}) id
      ON CONFLICT (realm_id, message_id) DO UPDATE SET number = excluded.number`);
  if (change.content !== undefined && rendered) {
    const { mentioned, alertedIds } = rendered;
    const listed = (list: readonly number[]) => (list.length === 0 ? sql.fragment`NULL` : sql.array([...list], 'int4'));
    await work.run(sql.unsafe`
      UPDATE messaging.message SET content = ${change.content}, rendered_content = ${rendered.html},
        has_link = ${rendered.hasLink}, has_image = ${rendered.hasImage}, mentioned_ids = ${listed(mentioned.userIds)},
        topic_mentioned_ids = ${listed(mentioned.topicUserIds)}, alerted_ids = ${listed(alertedIds)}, mentions_channel = ${mentioned.mentionsChannel}
      WHERE realm_id = ${work.realmId} AND id = ${anchor.id}`);
    await replaceJob(work, anchor.id, { content: change.content, pages: rendered.pages });
  }
  return now;
}
