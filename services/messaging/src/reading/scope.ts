import { type Actor, ChatError, type RequestMeta, roles } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { ChannelReach } from '../channel-reach.ts';
import { hasFlag, isAlerted, isMentioned, isRead } from '../flags/read-state.ts';
import { findPeople, findPeopleByEmail } from '../people.ts';
import { isSeenBy } from '../subscription-periods.ts';
import type { ChannelCopy } from './channel-copy.ts';
import { badNarrow, type Term } from './narrow.ts';
import { holdsPhrases, searchQuery } from './search-query.ts';
import { inConversation } from './with-message.ts';

export type Fragment = ReturnType<typeof sql.fragment>;

/** Which messages are asked for: conditions over `m`, and whether they are the user's whole feed. */
export interface Scope {
  conditions: Fragment[];
  /** Those of them that the narrow makes; the rest is what the reader may read. */
  narrowing: Fragment[];
  /** Whether one index serves it, whatever the values are. */
  isPlain: boolean;
  /** Only what limits the feed as a whole: pages of it are put together from pages of each conversation. */
  isFeed: boolean;
  search: string | undefined;
}

export interface Reader {
  executor: Executor;
  meta: RequestMeta;
  /** Absent: somebody without authentication, who reads what is open to the web alone. */
  actor: Actor | undefined;
  reach: ChannelReach;
  /** Of whom they may not know. */
  hidden: () => Promise<ReadonlySet<number>>;
  channels: readonly ChannelCopy[];
}

/** The scope of a narrow for a reader: nothing in it that they may not read. `among`: only of these messages, which are all that may be. */
export async function scopeOf(reader: Reader, given: readonly Term[], among?: readonly number[]): Promise<Scope> {
  const terms = await inConversation(reader, given);
  const channels = new Map<Term, ChannelCopy>();
  for (const term of terms)
    if (term.operator === 'channel') channels.set(term, await readableChannel(reader, term.operand));
  const conditions = [sql.fragment`m.realm_id = ${reader.meta.realmId}`];
  for (const term of terms) {
    const condition = await conditionOf(reader, term, channels);
    if (condition) conditions.push(term.negated ? sql.fragment`NOT coalesce(${condition}, false)` : condition);
  }
  const narrowing = [...conditions];
  // Where a narrow stays in a channel.
  const [named] = [...channels].filter(([term]) => !term.negated).map(([, channel]) => channel);
  conditions.push(among && !named ? await accessibleAmong(reader, among) : accessOf(reader, named, terms));
  const search = terms
    .filter((term) => term.operator === 'search' && !term.negated)
    .map((term) => String(term.operand));
  const isNarrow = terms.some((term) => !term.negated && !['in', 'near', 'channels'].includes(term.operator));
  return {
    conditions,
    narrowing,
    isPlain: terms.every((term) => !term.negated && ['channel', 'topic', 'dm', 'near', 'id'].includes(term.operator)),
    isFeed: !isNarrow && reader.actor !== undefined && !terms.some(isPublicTerm),
    search: search.join(' ') || undefined,
  };
}

const isPublicTerm = (term: Term): boolean => term.operator === 'channels' && !term.negated;

/** A channel that a narrow names, for or against; one that the reader may not read is not there. */
async function readableChannel(reader: Reader, operand: string | number): Promise<ChannelCopy> {
  const unknown = () => badNarrow(`unknown channel ${String(operand)}`);
  const channel = find(reader.channels, operand);
  if (!channel) throw unknown();
  if (channel.is_web_public) return channel;
  if (!reader.actor) throw unknown();
  await reader.reach.readable(reader.actor, reader.meta, channel.channel_id).catch(() => {
    throw unknown();
  });
  return channel;
}

const find = (channels: readonly ChannelCopy[], operand: string | number): ChannelCopy | undefined =>
  channels.find((channel) =>
    typeof operand === 'number'
      ? channel.channel_id === operand
      : !channel.is_archived && channel.name.toLowerCase() === operand.toLowerCase(),
  ) ??
  channels.find((channel) =>
    typeof operand === 'string'
      ? channel.name.toLowerCase() === operand.toLowerCase() || String(channel.channel_id) === operand
      : false,
  );

/** What the reader may read of what a narrow names. */
function accessOf(reader: Reader, named: ChannelCopy | undefined, terms: readonly Term[]): Fragment {
  const { actor } = reader;
  if (!actor) return openToTheWeb(reader.channels);
  if (named) {
    const isOpen = !named.is_private || named.history_public;
    return isOpen
      ? sql.fragment`m.channel_id = ${named.channel_id}`
      : sql.fragment`m.channel_id = ${named.channel_id} AND ${isSeenBy(actor.userId)}`;
  }
  const wanted = terms.filter(isPublicTerm).map((term) => term.operand);
  if (wanted.length > 0 && actor.role !== roles.guest)
    return sql.fragment`m.channel_id = ANY(${idsOf(reader.channels.filter((channel) => !channel.is_private))})`;
  if (wanted.includes('web-public')) return openToTheWeb(reader.channels);
  return mine(reader, actor);
}

const openToTheWeb = (channels: readonly ChannelCopy[]): Fragment =>
  sql.fragment`coalesce(m.channel_id = ANY(${idsOf(channels.filter((channel) => channel.is_web_public))}), false)`;

/** All that may be read: what is one's own, and what is open to everybody of the realm. */
export function accessible(reader: Pick<Reader, 'actor' | 'channels'>): Fragment {
  const { actor, channels } = reader;
  if (!actor) return openToTheWeb(channels);
  const open = channels.filter(
    (channel) => channel.is_web_public || (!channel.is_private && actor.role !== roles.guest),
  );
  return sql.fragment`(m.channel_id = ANY(${idsOf(open)}) OR ${mine(reader, actor)})`;
}

const channelIdRow = z.object({ channel_id: z.number() });

/** As `accessible`, and what a right of the reader's groups alone opens to them: asked for the channels of these messages. */
async function accessibleAmong(reader: Reader, messageIds: readonly number[]): Promise<Fragment> {
  const { executor, meta, actor, channels, reach } = reader;
  const shut = channels.filter((channel) => channel.is_private && channel.is_in !== true);
  if (!actor || shut.length === 0) return accessible(reader);
  const rows = await executor.any(sql.type(channelIdRow)`
    SELECT DISTINCT channel_id FROM messaging.message
    WHERE realm_id = ${meta.realmId} AND id = ANY(${sql.array([...messageIds], 'int8')}) AND channel_id = ANY(${idsOf(shut)})`);
  const opened = new Set<number>();
  for (const { channel_id } of rows)
    await reach.readable(actor, meta, channel_id).then(
      () => opened.add(channel_id),
      () => undefined,
    );
  if (opened.size === 0) return accessible(reader);
  const those = shut.filter((channel) => opened.has(channel.channel_id));
  return sql.fragment`(${accessible(reader)} OR m.channel_id = ANY(${idsOf(those.filter((one) => one.history_public))})
    OR (m.channel_id = ANY(${idsOf(those)}) AND ${isSeenBy(actor.userId)}))`;
}

const idsOf = (channels: readonly ChannelCopy[]) =>
  sql.array(
    channels.map((channel) => channel.channel_id),
    'int4',
  );

const isOpenTo = (actor: Actor, channel: ChannelCopy): boolean =>
  actor.role === roles.guest ? channel.is_web_public : !channel.is_private;

/**
 * Channels whose every message the reader may read as theirs, and those of which they may read what they received: what they are
 * in with a protected history, and what is open to them still, or where what they had received was moved.
 */
export function ownChannels(channels: readonly ChannelCopy[], actor: Actor) {
  const whole = channels.filter((channel) => channel.is_in === true && channel.history_public);
  const received = channels.filter(
    (channel) => !whole.includes(channel) && (channel.is_in === true || isOpenTo(actor, channel)),
  );
  return { whole, received };
}

/**
 * What was received and may still be read: direct messages, channels one is in, public ones one was in; and of what is open to
 * everybody, what one flagged or what mentions one (a bot is called also where it is not subscribed).
 */
function mine({ channels }: Pick<Reader, 'channels'>, actor: Actor): Fragment {
  const { whole, received } = ownChannels(channels, actor);
  return sql.fragment`(m.channel_id = ANY(${idsOf(whole)})
    OR (m.channel_id = ANY(${idsOf(received)}) AND ${isReceived(channels, actor)})
    OR (m.channel_id IS NULL AND EXISTS (SELECT FROM messaging.direct_message dm
      WHERE dm.realm_id = m.realm_id AND dm.user_id = ${actor.userId} AND dm.message_id = m.id)))`;
}

/** Of a message of channels that may be read in part: whether the reader received it, or it is open and calls or was kept by them. */
export const isReceived = (channels: readonly ChannelCopy[], actor: Actor): Fragment =>
  sql.fragment`(${isSeenBy(actor.userId)} OR (m.channel_id = ANY(${idsOf(channels.filter((channel) => isOpenTo(actor, channel)))})
    AND (coalesce(m.mentioned_ids @> ARRAY[${actor.userId}]::int[], false)
      OR EXISTS (SELECT FROM messaging.flag mf WHERE mf.realm_id = m.realm_id AND mf.user_id = ${actor.userId} AND mf.message_id = m.id))))`;

async function conditionOf(
  reader: Reader,
  term: Term,
  channels: ReadonlyMap<Term, ChannelCopy>,
): Promise<Fragment | undefined> {
  const { actor } = reader;
  const userId = actor?.userId ?? 0;
  const needsActor =
    ['is', 'dm', 'dm-including', 'in'].includes(term.operator) &&
    !(term.operator === 'is' && term.operand === 'resolved');
  if (!actor && needsActor)
    throw new ChatError('UNAUTHORIZED', 'Not logged in: API authentication or user session required');
  switch (term.operator) {
    case 'channel':
      return sql.fragment`m.channel_id = ${channels.get(term)?.channel_id ?? 0}`;
    case 'channels': {
      const ids = reader.channels
        .filter((channel) => (term.operand === 'public' ? !channel.is_private : channel.is_web_public))
        .map((channel) => channel.channel_id);
      return sql.fragment`m.channel_id = ANY(${sql.array(ids, 'int4')})`;
    }
    case 'topic':
      return sql.fragment`(m.channel_id IS NOT NULL AND lower(m.topic) = lower(${term.operand}))`;
    case 'sender': {
      const [person] = await peopleOf(reader, [term.operand]);
      return sql.fragment`m.sender_id = ${person?.user_id ?? 0}`;
    }
    case 'dm': {
      const ids = new Set((await peopleOf(reader, term.operand)).map((person) => person.user_id));
      const participants = [...ids.add(userId)].sort((a, b) => a - b);
      return sql.fragment`m.conversation = ${participants.join(',')}`;
    }
    case 'dm-including': {
      const ids = (await peopleOf(reader, term.operand)).map((person) => person.user_id);
      return sql.fragment`(m.recipient_ids @> ${sql.array(ids, 'int4')} AND EXISTS (SELECT FROM messaging.direct_message di
        WHERE di.realm_id = m.realm_id AND di.user_id = ${userId} AND di.message_id = m.id))`;
    }
    case 'is':
      return isCondition(term.operand, userId);
    case 'has':
      if (term.operand === 'link') return sql.fragment`m.has_link`;
      if (term.operand === 'image') return sql.fragment`m.has_image`;
      if (term.operand === 'attachment')
        return sql.fragment`EXISTS (SELECT FROM messaging.attachment_message am WHERE am.realm_id = m.realm_id AND am.message_id = m.id)`;
      return sql.fragment`EXISTS (SELECT FROM messaging.reaction re WHERE re.realm_id = m.realm_id AND re.message_id = m.id)`;
    case 'in':
      return term.operand === 'all' ? undefined : inHome(userId);
    case 'id':
      return sql.fragment`m.id = ${term.operand}`;
    // What it means stands in its place already.
    case 'with':
    case 'near':
      return undefined;
    case 'mentions': {
      const [person] = await peopleOf(reader, [term.operand]);
      return sql.fragment`coalesce(m.mentioned_ids @> ARRAY[${person?.user_id ?? 0}]::int[], false)`;
    }
    case 'search':
      return sql.fragment`(m.search @@ ${searchQuery(term.operand)} AND ${holdsPhrases(term.operand)})`;
  }
}

function isCondition(operand: string, userId: number): Fragment {
  switch (operand) {
    case 'dm':
      return sql.fragment`m.conversation IS NOT NULL`;
    case 'starred':
      return hasFlag(userId, 'starred');
    case 'unread':
      return sql.fragment`NOT ${isRead(userId)}`;
    case 'mentioned':
      return isMentioned(userId);
    case 'alerted':
      return isAlerted(userId);
    case 'resolved':
      return sql.fragment`starts_with(m.topic, '✔ ')`;
    case 'followed':
      return hasPolicy(userId, 3);
    default:
      return sql.fragment`NOT ${inHome(userId)}`;
  }
}

const hasPolicy = (userId: number, policy: number): Fragment => sql.fragment`EXISTS (SELECT FROM messaging.user_topic ut
  WHERE ut.realm_id = m.realm_id AND ut.user_id = ${userId} AND ut.channel_id = m.channel_id AND ut.topic_key = lower(m.topic) AND ut.policy = ${policy})`;

/** Neither in a muted topic, nor in a muted channel without the topic being unmuted or followed. */
export const inHome = (
  userId: number,
): Fragment => sql.fragment`(m.channel_id IS NULL OR (NOT ${hasPolicy(userId, 1)} AND (
  NOT EXISTS (SELECT FROM messaging.muted_channel mc WHERE mc.realm_id = m.realm_id AND mc.user_id = ${userId} AND mc.channel_id = m.channel_id)
  OR ${hasPolicy(userId, 2)} OR ${hasPolicy(userId, 3)})))`;

/** By an address nobody finds whom they may not know. */
async function peopleOf({ executor, meta, hidden, actor }: Reader, given: readonly (string | number)[]) {
  // A spectator knows people by `user12@host` alone, and finds nobody by a real address.
  const operand = actor ? given : given.map((one) => /^user(\d{1,9})@/.exec(String(one))?.[1] ?? one);
  const ids = operand.flatMap((one) => (typeof one === 'number' ? [one] : /^\d+$/.test(one) ? [Number(one)] : []));
  const emails = operand.filter((one): one is string => typeof one === 'string' && !/^\d+$/.test(one));
  const unknown = emails.length > 0 ? await hidden() : new Set<number>();
  const addressed = emails.length > 0 ? await findPeopleByEmail(executor, meta.realmId, emails) : [];
  const found = [
    ...(ids.length > 0 ? await findPeople(executor, meta.realmId, ids) : []),
    ...addressed.filter(({ user_id, is_bot }) => !unknown.has(user_id) && (actor || is_bot)),
  ];
  if (found.length < new Set(operand.map((one) => String(one).toLowerCase())).size)
    throw badNarrow(`unknown user in ${operand.join(', ')}`);
  return found;
}
