import { refusedAs, roles } from '@natter/contracts';
import { type Fragment, sql } from '@natter/database';
import { z } from 'zod';
import { findPeople, findPeopleByEmail } from '../people.ts';
import { hasFlag, isAlerted, isMentioned, isRead } from '../read-state.ts';
import { isSeenBy } from '../subscription-periods.ts';
import type { UnreadAmong } from '../unread-messages.ts';
import { type ChannelCopy, channelCopy, channelNamed, isOpenToSpectators } from './channel-copy.ts';
import { badNarrow, isOfDirectMessages, requirePossible, type Term } from './narrow/narrow.ts';
import { allOf, type Search } from './narrow/search-query.ts';
import { accessible, isIn, mine } from './readable.ts';
import type { Reader } from './reader.ts';
import { searchCondition } from './search-condition.ts';
import { inConversation } from './with-message.ts';

/** The requested messages: conditions over `m`, and whether they are the user's whole feed. */
export interface Scope {
  conditions: Fragment[];
  /** The conditions of the narrow. */
  narrowing: Fragment[];
  /** The other condition: whether the reader may read the message. */
  access: Fragment;
  /** Whether one index serves it, for any values. */
  isPlain: boolean;
  /** Whether the conditions apply to the feed as a whole: its pages are merged from pages of each conversation. */
  isFeed: boolean;
  /** The source of unread messages in the scope. */
  unreadAmong: UnreadAmong;
  /** SQL condition on an unread message `m`: whether it may be the first unread message. */
  mayBeFirstUnread: Fragment;
  /** The searches of the narrow, for highlighting. */
  search: Search | undefined;
}

/**
 * The scope of a narrow for a reader, limited to messages that they may read. `among`: limits it to these messages.
 * `mostChannels`: how many of their channels are looked up.
 */
export async function scopeOf(
  reader: Reader,
  given: readonly Term[],
  among?: readonly number[],
  mostChannels?: number,
): Promise<Scope> {
  const terms = await inConversation(reader, given);
  requirePossible(terms);
  const channels = new Map<Term, ChannelCopy>();
  for (const term of terms)
    if (term.operator === 'channel') channels.set(term, await readableChannel(reader, term.operand));
  const narrowing = [sql.fragment`m.realm_id = ${reader.meta.realmId}`];
  const searches: Search[] = [];
  for (const term of terms) {
    const condition =
      term.operator === 'search'
        ? await searchCondition(reader, term, searches)
        : await conditionOf(reader, term, channels);
    if (condition) narrowing.push(term.negated ? sql.fragment`NOT coalesce(${condition}, false)` : condition);
  }
  // The first channel that a positive term names, if any.
  const [named] = [...channels].filter(([term]) => !term.negated).map(([, channel]) => channel);
  const access =
    among && !named
      ? await accessibleAmong(reader, sql.fragment`id = ANY(${sql.array([...among], 'int8')})`, mostChannels)
      : await accessOf(reader, named, terms);
  const isNarrow = terms.some((term) => !term.negated && !['in', 'near', 'channels'].includes(term.operator));
  return {
    conditions: [...narrowing, access],
    narrowing,
    access,
    isPlain: terms.every((term) => !term.negated && ['channel', 'topic', 'dm', 'near', 'id'].includes(term.operator)),
    isFeed: !isNarrow && reader.actor !== undefined && !terms.some(isPublicTerm),
    unreadAmong: named ? { channelId: named.channel_id } : terms.some(isOfDirect) ? 'direct' : 'all',
    mayBeFirstUnread: isNotPassedOver(reader.actor?.userId ?? 0, terms, named),
    search: allOf(searches),
  };
}

/** Messages that the user muted are passed over, except in the channel, or the topic of a channel, that a narrow names. */
function isNotPassedOver(userId: number, terms: readonly Term[], named: ChannelCopy | undefined): Fragment {
  if (!named) return inHome(userId);
  const hasTopic = terms.some((term) => term.operator === 'topic' && !term.negated);
  return hasTopic ? sql.fragment`true` : sql.fragment`NOT ${hasPolicy(userId, 1)}`;
}

const isOfDirect = (term: Term): boolean => !term.negated && isOfDirectMessages(term);

const isStarredTerm = (term: Term): boolean => term.operator === 'is' && term.operand === 'starred' && !term.negated;

const isPublicTerm = (term: Term): boolean => term.operator === 'channels' && !term.negated;

/** A channel that a narrow includes or excludes; one that the reader may not read is treated as nonexistent. */
async function readableChannel(reader: Reader, operand: string | number): Promise<ChannelCopy> {
  const unknown = () => badNarrow(`unknown channel ${String(operand)}`);
  const { executor, meta } = reader;
  const channel =
    typeof operand === 'number'
      ? await channelCopy(executor, meta.realmId, operand)
      : await channelNamed(executor, meta.realmId, operand);
  if (!channel) throw unknown();
  if (!reader.actor && !isOpenToSpectators(channel)) throw unknown();
  if (!reader.actor || channel.is_web_public) return channel;
  await reader.access.readable(reader.actor, reader.meta, channel.channel_id).catch(refusedAs(unknown));
  return channel;
}

/** The access condition for the channels that a narrow names. */
async function accessOf(reader: Reader, named: ChannelCopy | undefined, terms: readonly Term[]): Promise<Fragment> {
  const { actor } = reader;
  if (actor && named) {
    const isOpen = !named.is_private || named.history_public;
    return isOpen
      ? sql.fragment`m.channel_id = ${named.channel_id}`
      : sql.fragment`m.channel_id = ${named.channel_id} AND ${isSeenBy(actor.userId)}`;
  }
  // Without an account, `readableChannel` accepts only channels that are open to spectators.
  if (named) return sql.fragment`m.channel_id = ${named.channel_id}`;
  if (actor && terms.some(isStarredTerm))
    return accessibleAmong(
      reader,
      sql.fragment`id IN (SELECT message_id FROM messaging.flag
        WHERE realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND flag = 'starred'
        ORDER BY message_id DESC LIMIT ${checkedStars})`,
      checkedChannels,
    );
  const readable = await reader.readable();
  const wanted = terms.filter(isPublicTerm).map((term) => term.operand);
  const isOpen = actor?.role === roles.guest ? wanted.includes('web-public') : wanted.length > 0;
  return !actor || isOpen ? readable.isOpen : mine(readable, actor);
}

/** The newest stars whose channels are looked up for each page of starred messages. */
const checkedStars = 5_000;
/** Maximum number of channels that are looked up, the same as for a request that stars messages. */
const checkedChannels = 1_000;

const channelRow = z.object({ channel_id: z.number(), history_public: z.boolean() });

/**
 * Like `accessible`, plus channels that only a group permission opens: checked for the channels of the messages that
 * `isAmong` selects. No permission opens a channel to a guest.
 */
async function accessibleAmong(reader: Reader, isAmong: Fragment, mostChannels?: number): Promise<Fragment> {
  const { executor, meta, actor, access } = reader;
  const all = accessible(await reader.readable(), actor);
  if (!actor || actor.role === roles.guest) return all;
  const shut = await executor.any(sql.type(channelRow)`
    SELECT c.channel_id, c.history_public FROM (SELECT DISTINCT channel_id FROM messaging.message
      WHERE realm_id = ${meta.realmId} AND ${isAmong}) named
    JOIN messaging.channel c ON c.realm_id = ${meta.realmId} AND c.channel_id = named.channel_id
    WHERE c.is_private AND NOT EXISTS (SELECT FROM messaging.subscription_period p
      WHERE p.realm_id = ${meta.realmId} AND p.user_id = ${actor.userId} AND p.channel_id = c.channel_id AND p.to_id IS NULL)
    ORDER BY c.channel_id DESC`);
  const readable = await access.readableAmong(
    actor,
    meta,
    shut.map(({ channel_id }) => channel_id),
    mostChannels,
  );
  const opened = shut.filter(({ channel_id }) => readable.has(channel_id));
  if (opened.length === 0) return all;
  const idsOf = (channels: typeof shut) =>
    sql.array(
      channels.map((channel) => channel.channel_id),
      'int4',
    );
  return sql.fragment`(${all} OR m.channel_id = ANY(${idsOf(opened.filter((one) => one.history_public))})
    OR (m.channel_id = ANY(${idsOf(opened)}) AND ${isSeenBy(actor.userId)}))`;
}

async function conditionOf(
  reader: Reader,
  term: Exclude<Term, { operator: 'search' }>,
  channels: ReadonlyMap<Term, ChannelCopy>,
): Promise<Fragment | undefined> {
  const userId = reader.actor?.userId ?? 0;
  switch (term.operator) {
    case 'channel':
      return sql.fragment`m.channel_id = ${channels.get(term)?.channel_id ?? 0}`;
    case 'channels':
      return isIn(reader.executor, reader.meta.realmId, term.operand === 'public' ? 'public' : 'web-public');
    case 'topic':
      return sql.fragment`(m.channel_id IS NOT NULL AND lower(m.topic) = lower(${term.operand}))`;
    case 'sender': {
      const [person] = await peopleOf(reader, [term.operand]);
      return sql.fragment`m.sender_id = ${person?.user_id ?? 0}`;
    }
    case 'dm': {
      if (term.operand.length === 0) return sql.fragment`false`;
      return isConversation([...(await peopleOf(reader, term.operand)).map((person) => person.user_id), userId]);
    }
    case 'dm-including':
    case 'group-pm-with': {
      const ids = (await peopleOf(reader, term.operand)).map((person) => person.user_id);
      const isGroup =
        term.operator === 'group-pm-with' ? sql.fragment`cardinality(m.recipient_ids) > 2` : sql.fragment`true`;
      return sql.fragment`(m.recipient_ids @> ${sql.array(ids, 'int4')} AND ${isGroup} AND EXISTS (SELECT FROM messaging.direct_message di
        WHERE di.realm_id = m.realm_id AND di.user_id = ${userId} AND di.message_id = m.id))`;
    }
    case 'is':
      return isCondition(term.operand, userId);
    case 'has':
      return hasCondition(term.operand);
    case 'in':
      return term.operand === 'all' ? undefined : inHome(userId);
    case 'id':
      return sql.fragment`m.id = ${term.operand}`;
    // These terms have no condition on messages. They are resolved before.
    case 'with':
    case 'near':
      return undefined;
    case 'mentions': {
      const [person] = await peopleOf(reader, [term.operand]);
      return sql.fragment`coalesce(m.mentioned_ids @> ARRAY[${person?.user_id ?? 0}]::int[], false)`;
    }
  }
}

function isConversation(userIds: readonly number[]): Fragment {
  const participants = [...new Set(userIds)].sort((a, b) => a - b);
  return sql.fragment`m.conversation = ${participants.join(',')}`;
}

function hasCondition(operand: string): Fragment {
  if (operand === 'link') return sql.fragment`m.has_link`;
  if (operand === 'image') return sql.fragment`m.has_image`;
  if (operand === 'attachment')
    return sql.fragment`EXISTS (SELECT FROM messaging.attachment_message am WHERE am.realm_id = m.realm_id AND am.message_id = m.id)`;
  return sql.fragment`EXISTS (SELECT FROM messaging.reaction re WHERE re.realm_id = m.realm_id AND re.message_id = m.id)`;
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

/**
 * SQL condition on a message `m`: whether it is neither in a muted topic, nor in a muted channel. The topic of a muted
 * channel counts as not muted if the user unmuted or follows it.
 */
export const inHome = (
  userId: number,
): Fragment => sql.fragment`(m.channel_id IS NULL OR (NOT ${hasPolicy(userId, 1)} AND (
  NOT EXISTS (SELECT FROM messaging.muted_channel mc WHERE mc.realm_id = m.realm_id AND mc.user_id = ${userId} AND mc.channel_id = m.channel_id)
  OR ${hasPolicy(userId, 2)} OR ${hasPolicy(userId, 3)})))`;

/** Invisible users are not found by address. */
async function peopleOf({ executor, meta, decideSeeing, actor }: Reader, given: readonly (string | number)[]) {
  // A spectator identifies users by `user12@host` only, and finds none by a real address.
  const operand = actor ? given : given.map((one) => /^user(\d{1,9})@/.exec(String(one))?.[1] ?? one);
  const ids = operand.flatMap((one) => (typeof one === 'number' ? [one] : /^\d+$/.test(one) ? [Number(one)] : []));
  const emails = operand.filter((one): one is string => typeof one === 'string' && !/^\d+$/.test(one));
  const named = ids.length > 0 ? await findPeople(executor, meta.realmId, ids) : [];
  const addressed = emails.length > 0 ? await findPeopleByEmail(executor, meta.realmId, emails) : [];
  const knownTo = async (hidden: ReadonlySet<number>) => {
    const found = [...named, ...addressed.filter((one) => !hidden.has(one.user_id) && (actor || one.is_bot))];
    if (found.length < new Set(operand.map((one) => String(one).toLowerCase())).size)
      throw badNarrow(`unknown user in ${operand.join(', ')}`);
    return found;
  };
  return emails.length > 0 ? decideSeeing(knownTo) : knownTo(new Set());
}
