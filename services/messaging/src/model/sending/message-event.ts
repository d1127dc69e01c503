import {
  type Actor,
  hasId,
  type IdSet,
  idSet,
  idsOf,
  type LogEvent,
  type LoggedMessage,
  type RequestMeta,
  withIds,
} from '@natter/contracts';
import { type InsertNumbered, type Numbered, sql } from '@natter/database';
import type { RenderedMessage } from '@natter/renderer';
import { recipientIdOf } from '../recipient-id.ts';
import type { UnknownActor } from '../unknown-actor.ts';
import type { Destination } from './destination.ts';
import { isInteractiveClient } from './interactive-client.ts';
import type { Mentioned } from './mention-rights.ts';
import type { Params } from './send-params.ts';
import type { SenderFacts } from './sender-facts.ts';

interface Parts {
  /** The user whom the message names as its sender. */
  author: Actor;
  /** The time that a mirroring bot stated, in seconds since 1970. */
  statedAt: number | undefined;
  meta: RequestMeta;
  params: Params;
  content: string;
  destination: Destination;
  facts: SenderFacts;
  rendered: RenderedMessage;
  mentioned: Mentioned;
  submessages: LoggedMessage['submessages'];
  emailHiddenFrom: IdSet | undefined;
  unknownSender: UnknownActor | undefined;
  /** Mentioned bots that are not subscribed to the channel. */
  called: readonly number[];
  /** Users for whom it is unread; for all others it is read on arrival. */
  unreadFor: readonly number[] | undefined;
}

/** While the clock is locked, no mute takes effect: a message is stored only if it was decided on those that hold now. */
const intoMessages: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO messaging.message (realm_id, id, sender_id, channel_id, sent_channel_id, topic, recipient_ids, conversation, content, rendered_content,
    client, is_read_by_sender, has_link, has_image, mentioned_ids, topic_mentioned_ids, alerted_ids, mentions_channel, unread_for, stated_at)
  SELECT m.realm_id, m.number, m.sender_id, m.channel_id, m.channel_id, m.topic, m.recipient_ids, m.conversation, m.content, m.rendered_content,
    m.client, m.is_read_by_sender, m.has_link, m.has_image, m.mentioned_ids, m.topic_mentioned_ids, m.alerted_ids, m.mentions_channel, m.unread_for, to_timestamp(m.stated_at)
  FROM ${rows(sql.fragment`sender_id int, channel_id int, topic text, recipient_ids int[], conversation text, content text, rendered_content text,
    client text, is_read_by_sender boolean, has_link boolean, has_image boolean, mentioned_ids int[], topic_mentioned_ids int[], alerted_ids int[],
    mentions_channel boolean, unread_for int[], stated_at float8, mutes_number bigint`)} m
  WHERE messaging.expect_mutes(m.realm_id, m.sender_id, (SELECT c.number FROM messaging.mute_change c
    WHERE c.realm_id = m.realm_id AND c.muted_id = m.sender_id), m.mutes_number)`;

const intoDirectMessages: InsertNumbered = (rows) => sql.unsafe`
  INSERT INTO messaging.direct_message (realm_id, user_id, message_id)
  SELECT m.realm_id, u, m.number FROM ${rows(sql.fragment`user_ids int[]`)} m, unnest(m.user_ids) u`;

/** The flags that the message begins with, each with its users. */
function flagsOf(
  { author, destination, facts, mentioned, unreadFor, called }: Parts,
  { isReadBySender, mentionedIds, alerted }: { isReadBySender: boolean; mentionedIds: number[]; alerted: number[] },
): { flag: string; users: IdSet }[] {
  const unread = new Set(unreadFor);
  const readAtOnce = unreadFor ? idsOf(destination.audience).filter((id) => !unread.has(id)) : [];
  const read = [
    ...facts.muted_by.filter((id) => hasId(destination.audience, id)),
    ...(isReadBySender ? [author.userId] : []),
    ...readAtOnce,
    ...called,
  ];
  return [
    { flag: 'read', users: idSet(read) },
    { flag: 'mentioned', users: idSet(mentionedIds) },
    ...(mentioned.mentionsChannel
      ? ['stream_wildcard_mentioned', 'wildcard_mentioned'].map((flag) => ({ flag, users: destination.audience }))
      : []),
    { flag: 'topic_wildcard_mentioned', users: idSet(mentioned.topicUserIds) },
    ...(mentioned.mentionsChannel ? [] : [{ flag: 'wildcard_mentioned', users: idSet(mentioned.topicUserIds) }]),
    { flag: 'has_alert_word', users: idSet(alerted) },
  ].filter(({ users }) => !('ids' in users) || users.ids.length > 0);
}

/** The event of a message and its rows: one, plus one per participant of a direct message. */
export function messageOf(parts: Parts): { event: LogEvent; rows: (fromEnd: number) => Numbered[] } {
  const { author, statedAt, meta, params, content, destination, facts, rendered, mentioned } = parts;
  const isReadBySender = params.read_by_sender ?? isInteractiveClient(meta.client);
  const topic = destination.kind === 'channel' ? destination.topic : '';
  const alerted = facts.alertedIds.filter((id) => hasId(destination.audience, id));
  const { called } = parts;
  const mentionedIds = [...mentioned.userIds, ...called].sort((a, b) => a - b);
  const flags = flagsOf(parts, { isReadBySender, mentionedIds, alerted });
  const message: LoggedMessage = {
    avatar_url: facts.avatar_url ?? `/avatar/${author.userId}?version=1`,
    client: meta.client,
    content: rendered.html,
    content_type: 'text/html',
    is_me_message: rendered.isMeMessage,
    reactions: [],
    sender_id: author.userId,
    // The address of the actor, which the commit compares, never that of the projection.
    sender_email: author.email,
    sender_full_name: facts.full_name ?? author.email,
    sender_realm_str: '',
    subject: topic,
    submessages: parts.submessages,
    topic_links: rendered.topicLinks,
    ...(statedAt === undefined ? {} : { timestamp: Math.floor(statedAt) }),
    ...recipientPart(destination, author),
  };
  const event: LogEvent = {
    type: 'message',
    body: { message },
    audience: {
      users: called.length === 0 ? destination.audience : withIds(destination.audience, called),
    },
    message: {
      ...(destination.kind === 'channel' ? { channelId: destination.channel.channel_id } : {}),
      isPublic: destination.kind === 'channel' && !destination.channel.is_private,
      topic,
      senderId: author.userId,
      source: content,
      flags,
      ...(parts.emailHiddenFrom ? { emailHiddenFrom: parts.emailHiddenFrom } : {}),
      ...(parts.unknownSender ? { unknownSender: parts.unknownSender } : {}),
      ...(params.queue_id !== undefined && params.local_id !== undefined
        ? { local: { queueId: params.queue_id, localId: params.local_id } }
        : {}),
    },
  };
  const channelId = destination.kind === 'channel' ? destination.channel.channel_id : null;
  const participants = destination.kind === 'direct' ? destination.people.map((person) => person.user_id) : null;
  const ids = (list: readonly number[]) => (list.length === 0 ? null : list);
  const rows = (from_end: number): Numbered[] => [
    {
      into: intoMessages,
      row: {
        from_end,
        sender_id: author.userId,
        channel_id: channelId,
        topic,
        recipient_ids: participants,
        conversation: participants?.join(',') ?? null,
        content,
        rendered_content: rendered.html,
        client: meta.client,
        is_read_by_sender: isReadBySender,
        has_link: rendered.hasLink,
        has_image: rendered.hasImage,
        mentioned_ids: ids(mentionedIds),
        topic_mentioned_ids: ids(mentioned.topicUserIds),
        alerted_ids: ids(alerted),
        mentions_channel: mentioned.mentionsChannel,
        unread_for: parts.unreadFor ?? null,
        stated_at: statedAt ?? null,
        mutes_number: facts.mutes_number,
      },
    },
    ...(participants === null ? [] : [{ into: intoDirectMessages, row: { from_end, user_ids: participants } }]),
  ];
  return { event, rows };
}

function recipientPart(destination: Destination, author: Actor) {
  if (destination.kind === 'channel')
    return {
      type: 'stream' as const,
      stream_id: destination.channel.channel_id,
      display_recipient: destination.channel.name,
      recipient_id: destination.channel.channel_id,
    };
  const people = destination.people.map((person) => ({
    id: person.user_id,
    email: person.user_id === author.userId ? author.email : person.email,
    full_name: person.full_name,
    is_mirror_dummy: false,
  }));
  return {
    type: 'private' as const,
    display_recipient: people,
    recipient_id: recipientIdOf(people.map((person) => person.id)),
  };
}
