import {
  emptyTopicDisplayName,
  isUploadedAvatar,
  type MessageObject,
  nominalEmail,
  type RealmPolicy,
  roles,
  type UnknownUser,
} from '@natter/contracts';
import { type Executor, type Results, readAtOnce, sql } from '@natter/database';
import type { Renderer } from '@natter/renderer';
import { z } from 'zod';
import { whoHidesEmail } from '../email-visibility.ts';
import { linkifiers } from '../linkifiers.ts';
import { type Person, peopleAmong } from '../people.ts';
import { hasFlag, isAlerted, isRead, wasReceived } from '../read-state.ts';
import { recipientIdOf } from '../recipient-id.ts';
import { highlightFor } from './highlight.ts';
import { extrasOf, messageExtras } from './message-extras.ts';
import type { Search } from './narrow/search-query.ts';

export interface ShownAs {
  renderer: Renderer;
  applyMarkdown: boolean;
  /** For a reader of this role whose client computes avatar URLs from emails. */
  clientGravatar: { role: number } | false;
  allowEmptyTopic: boolean;
  search?: Search | undefined;
  /** Placeholders for users whom the reader may not see. */
  unknown?: ReadonlyMap<number, UnknownUser>;
}

/** Reads only the beginning of the form that is not requested, to detect messages that begin with /me. */
const rendered = sql.fragment`left(m.content, 4) AS content, m.rendered_content`;
const source = sql.fragment`m.content, '' AS rendered_content`;

const fullRow = z.object({
  id: z.number(),
  sender_id: z.number(),
  channel_id: z.number().nullable(),
  channel_name: z.string().nullable(),
  recipient_ids: z.array(z.number()).nullable(),
  topic: z.string(),
  content: z.string(),
  rendered_content: z.string(),
  client: z.string(),
  sent: z.number(),
  is_read: z.boolean(),
  is_starred: z.boolean(),
  is_collapsed: z.boolean(),
  is_mentioned: z.boolean(),
  is_topic_mentioned: z.boolean(),
  mentions_channel: z.boolean(),
  is_alerted: z.boolean(),
  was_received: z.boolean(),
  searched: z.string().nullable(),
});
type FullRow = z.infer<typeof fullRow>;

type ReaderId = Pick<Viewer, 'realmId' | 'userId'>;

/** The statements that read what message objects consist of. */
export function partsOf(reader: ReaderId, messageIds: readonly number[], shown: ShownAs) {
  const isAsked = sql.fragment`realm_id = ${reader.realmId} AND id = ANY(${sql.array([...messageIds], 'int8')})`;
  const participants = sql.fragment`
    SELECT sender_id FROM messaging.message WHERE ${isAsked}
    UNION SELECT unnest(recipient_ids) FROM messaging.message WHERE ${isAsked}`;
  return {
    rows: rowsOf(reader, messageIds, shown),
    ...besideRows(reader, messageIds, shown, participants),
  };
}

function rowsOf({ realmId, userId }: ReaderId, messageIds: readonly number[], shown: ShownAs) {
  const searched = shown.search ? sql.fragment`m.rendered_content` : sql.fragment`NULL::text`;
  return sql.type(fullRow)`
    SELECT m.id, m.sender_id, m.channel_id, c.name AS channel_name, m.recipient_ids, m.topic, ${shown.applyMarkdown ? rendered : source}, m.client,
      extract(epoch FROM coalesce(m.stated_at, m.sent_at))::float8 AS sent, m.mentions_channel,
      ${isRead(userId)} AS is_read, ${hasFlag(userId, 'starred')} AS is_starred, ${hasFlag(userId, 'collapsed')} AS is_collapsed,
      coalesce(m.mentioned_ids @> ARRAY[${userId}]::int[], false) AS is_mentioned,
      coalesce(m.topic_mentioned_ids @> ARRAY[${userId}]::int[], false) AS is_topic_mentioned,
      ${isAlerted(userId)} AS is_alerted, ${wasReceived(userId)} AS was_received, ${searched} AS searched
    FROM messaging.message m LEFT JOIN messaging.channel c ON c.realm_id = m.realm_id AND c.channel_id = m.channel_id
    WHERE m.realm_id = ${realmId} AND m.id = ANY(${sql.array([...messageIds], 'int8')}) ORDER BY m.id`;
}

/** `participants`: a query of the ids of those who sent or received the messages. */
const besideRows = (
  { realmId, userId }: ReaderId,
  messageIds: readonly number[],
  shown: ShownAs,
  participants: ReturnType<typeof sql.fragment>,
) => ({
  people: peopleAmong(realmId, participants),
  hidden: whoHidesEmail(realmId, participants, { userId, role: roles.guest, ...shown.clientGravatar }),
  linkifiers: linkifiers(realmId),
  ...extrasOf(realmId, messageIds),
});

type MessageParts = Results<ReturnType<typeof partsOf>>;

/** The person who reads the messages. */
export interface Viewer {
  realmId: number;
  /** 0 is a reader without an account. */
  userId: number;
  botOwnerId?: number | undefined;
  policy: RealmPolicy;
}

/** Message objects in ascending order, as the viewer sees them. */
export async function messageObjects(
  executor: Executor,
  viewer: Viewer,
  messageIds: readonly number[],
  shown: ShownAs,
): Promise<MessageObject[]> {
  if (messageIds.length === 0) return [];
  // The message rows are read in a separate statement: converting long texts to JSON and back takes three times as long.
  const rows = [...(await executor.any(rowsOf(viewer, messageIds, shown)))];
  // The participants are taken from the rows. A second look-up of a message that was deleted meanwhile would find none.
  const participants = [...new Set(rows.flatMap((row) => [row.sender_id, ...(row.recipient_ids ?? [])]))];
  const among = sql.fragment`SELECT unnest(${sql.array(participants, 'int4')})`;
  const beside = besideRows(viewer, messageIds, shown, among);
  return objectsOf(executor, viewer, { rows, ...(await readAtOnce(executor, beside)) }, shown);
}

/** Message objects made of the results of `partsOf`. */
export async function objectsOf(
  executor: Executor,
  viewer: Viewer,
  { rows, ...beside }: MessageParts,
  shown: ShownAs,
): Promise<MessageObject[]> {
  const { realmId, userId, policy } = viewer;
  const matches = await matchesOf(executor, realmId, rows, shown);
  const unknown = shown.unknown ?? new Map<number, UnknownUser>();
  const people = new Map(
    beside.people.map((person) => [
      person.user_id,
      {
        ...person,
        ...(userId === 0 && !person.is_bot ? { email: nominalEmail(person.user_id, policy.host) } : {}),
        ...unknown.get(person.user_id),
      },
    ]),
  );
  const hidden = shown.clientGravatar ? new Set(beside.hidden.map((row) => row.user_id)) : undefined;
  // Readers who may see an email compute the avatar URL from it, unless an avatar was uploaded.
  const isPictureless = (id: number): boolean =>
    hidden !== undefined && !hidden.has(id) && !unknown.has(id) && !isUploadedAvatar(people.get(id)?.avatar_url);
  const historyPolicy = policy.settings.message_edit_history_visibility_policy;
  const extras = messageExtras(beside, historyPolicy, {
    unknown,
    allowEmptyTopic: shown.allowEmptyTopic,
    spectator: userId === 0 ? { host: policy.host } : undefined,
  });
  const topics = [...new Set(rows.flatMap(({ topic }) => (topic === '' ? [] : [topic])))];
  const linksOf = await shown.renderer.topicLinks(viewer, topics, beside.linkifiers);
  const links = new Map(topics.map((topic, i) => [topic, linksOf[i] ?? []]));
  return rows.map((row): MessageObject => {
    const sender = people.get(row.sender_id);
    return {
      id: row.id,
      avatar_url: isPictureless(row.sender_id) ? null : (sender?.avatar_url ?? ''),
      client: row.client,
      content: shown.applyMarkdown ? row.rendered_content : row.content,
      content_type: shown.applyMarkdown ? 'text/html' : 'text/x-markdown',
      is_me_message: row.content.startsWith('/me '),
      sender_id: row.sender_id,
      sender_email: sender?.email ?? '',
      sender_full_name: sender?.full_name ?? '',
      sender_realm_str: '',
      subject: topicOf(row, shown),
      timestamp: Math.floor(row.sent),
      topic_links: links.get(row.topic) ?? [],
      ...recipientOf(row, people),
      ...extras(row.id),
      flags: userId === 0 ? ['read'] : flagsOf(row),
      ...matches(row),
    };
  });
}

function recipientOf(row: FullRow, people: ReadonlyMap<number, Person>) {
  if (row.channel_id !== null)
    return {
      type: 'stream' as const,
      stream_id: row.channel_id,
      display_recipient: row.channel_name ?? '',
      recipient_id: row.channel_id,
    };
  const participants = (row.recipient_ids ?? []).map((id) => ({
    id,
    email: people.get(id)?.email ?? '',
    full_name: people.get(id)?.full_name ?? '',
    is_mirror_dummy: false,
  }));
  return {
    type: 'private' as const,
    display_recipient: participants,
    recipient_id: recipientIdOf(row.recipient_ids ?? []),
  };
}

function flagsOf(row: Omit<FullRow, 'id'>): string[] {
  const wildcard = row.mentions_channel && row.was_received;
  return [
    ...(row.is_read ? ['read'] : []),
    ...(row.is_starred ? ['starred'] : []),
    ...(row.is_collapsed ? ['collapsed'] : []),
    ...(row.is_mentioned ? ['mentioned'] : []),
    ...(wildcard ? ['stream_wildcard_mentioned'] : []),
    ...(row.is_topic_mentioned ? ['topic_wildcard_mentioned'] : []),
    ...(wildcard || row.is_topic_mentioned ? ['wildcard_mentioned'] : []),
    ...(row.is_alerted ? ['has_alert_word'] : []),
    ...(row.was_received ? [] : ['historical']),
  ];
}

/** The topic for a client. A client that does not support the empty topic gets its display name. */
const topicOf = ({ topic, channel_id }: Pick<FullRow, 'topic' | 'channel_id'>, shown: ShownAs): string =>
  topic === '' && channel_id !== null && !shown.allowEmptyTopic ? emptyTopicDisplayName : topic;

/** For the messages of a search: their texts with what it found marked. The name of the empty topic is not searched. */
async function matchesOf(
  executor: Executor,
  realmId: number,
  rows: readonly FullRow[],
  shown: ShownAs,
): Promise<(row: FullRow) => { match_content?: string; match_subject?: string }> {
  const { search } = shown;
  if (!search) return () => ({});
  const texts = rows.flatMap((row) => [row.searched ?? '', escaped(row.topic)]);
  const highlight = await highlightFor(executor, realmId, search, texts);
  return (row) => ({
    match_content: highlight(row.searched ?? ''),
    match_subject: row.topic === '' ? escaped(topicOf(row, shown)) : highlight(escaped(row.topic)),
  });
}

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
