import {
  type Actor,
  badRequest,
  messageReadingOperations,
  perRequest,
  refusedAs,
  topicOfName,
} from '@natter/contracts';
import { type Executor, type Fragment, sql, VersionsChanged, type Work } from '@natter/database';
import { type Handlers, handleWrite, type Owner, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { invalidChannelId } from '../model/channel-access.ts';
import { emitFlags, emitUnread, lockFlags, markRead, setUnread } from '../model/mark-read.ts';
import { hasFlag, isRead } from '../model/read-state.ts';
import { finishLeaving } from '../model/reading/leave-channels.ts';
import { messageDetails } from '../model/reading/message-details.ts';
import { parseNarrow, type Term } from '../model/reading/narrow/narrow.ts';
import { all, pageOf, select } from '../model/reading/page.ts';
import { type Reading, readerOf } from '../model/reading/reader.ts';
import { type Scope, scopeOf } from '../model/reading/scope.ts';
import { unreadMessages } from '../model/unread-messages.ts';
import { pointerHandlers } from './pointer.ts';

type Op = 'add' | 'remove';
type Unread = Pick<Scope, 'conditions' | 'unreadAmong'>;
const editable = ['read', 'starred', 'collapsed'] as const;
type Editable = (typeof editable)[number];
const known = [
  'mentioned',
  'stream_wildcard_mentioned',
  'topic_wildcard_mentioned',
  'wildcard_mentioned',
  'has_alert_word',
  'historical',
];
const maxAtOnce = 5_000;
/** Most channels that are looked up for listed messages: all messages have to be found. */
const mostChannels = 1_000;
const idRow = z.object({ id: z.number() });

export function flagHandlers(owner: Owner, reading: Reading): Handlers {
  const { database } = owner;

  function readAll<R>({ actor, write }: WriteContext, scope: Unread, answer: R): Promise<R> {
    return write(async (work) => {
      await lockFlags(work, actor.userId);
      const ids = await unreadIds(work, actor, scope);
      await markRead(work, actor.userId, ids);
      return answer;
    });
  }

  return [
    ...pointerHandlers(owner),

    handleWrite(messageReadingOperations.updateFlags, async (context, { messages, op, flag }) => {
      const { actor, meta } = context;
      const name = checkedFlag(flag);
      const reader = readerOf(owner, reading, actor, meta);
      const wanted = [...new Set(messages)];
      const { access } = await scopeOf(reader, [], wanted, mostChannels);
      return context.write(async (work) => {
        const change = { op, flag: name, messageIds: wanted, access };
        const { missing, changed, skippedChannels } = await changeFlags(work, actor, change);
        // Clients mark messages as read that were deleted meanwhile.
        if (missing > 0 && !(op === 'add' && name === 'read')) {
          // A message may have been moved after the access was read.
          if (context.attempt === 0) throw new VersionsChanged(`messages from ${wanted[0]}`, 'row');
          throw badRequest('Invalid message(s)');
        }
        return { messages: changed, ignored_because_not_subscribed_channels: skippedChannels };
      });
    }),

    handleWrite(messageReadingOperations.updateFlagsForNarrow, async ({ actor, meta, write }, params) => {
      const name = checkedFlag(params.flag);
      const reader = readerOf(owner, reading, actor, meta);
      const terms = parseNarrow(params.narrow);
      const scope = await scopeOf(reader, terms);
      const page = await pageOf(reader, scope, {
        anchor: params.anchor,
        includeAnchor: params.include_anchor,
        before: Math.min(params.num_before, maxAtOnce),
        after: Math.min(params.num_after, maxAtOnce - Math.min(params.num_before, maxAtOnce)),
      });
      return write(async (work) => {
        const change = { op: params.op, flag: name, messageIds: page.ids, access: scope.access };
        const { changed, skippedChannels } = await changeFlags(work, actor, change);
        return {
          processed_count: page.ids.length,
          updated_count: changed.length,
          first_processed_id: page.ids[0] ?? null,
          last_processed_id: page.ids.at(-1) ?? null,
          found_oldest: page.foundOldest,
          found_newest: page.foundNewest,
          ignored_because_not_subscribed_channels: skippedChannels,
        };
      });
    }),

    handleWrite(messageReadingOperations.markAllRead, (context) =>
      readAll(context, { conditions: [sql.fragment`true`], unreadAmong: 'all' }, { complete: true }),
    ),

    handleWrite(messageReadingOperations.markChannelRead, async (context, { stream_id }) => {
      const { actor, meta } = context;
      await reading.access.readable(actor, meta, stream_id);
      const conditions = [sql.fragment`m.channel_id = ${stream_id}`];
      return readAll(context, { conditions, unreadAmong: { channelId: stream_id } }, {});
    }),

    handleWrite(messageReadingOperations.markTopicRead, async (context, { stream_id, topic_name }) => {
      const { actor, meta } = context;
      const topic = topicOfName(topic_name.trim());
      const terms: Term[] = [
        { operator: 'channel', operand: stream_id, negated: false },
        { operator: 'topic', operand: topic, negated: false },
      ];
      const reader = readerOf(owner, reading, actor, meta);
      const scope = await scopeOf(reader, terms).catch(refusedAs(invalidChannelId));
      const [any] = await select(database, scope, { where: sql.fragment`true`, order: 'DESC', limit: 1 });
      if (any === undefined) throw badRequest(`No such topic '${topic_name}'`);
      return readAll(context, scope, {});
    }),
  ];
}

function checkedFlag(flag: string): Editable {
  const found = editable.find((name) => name === flag);
  if (found !== undefined) return found;
  throw badRequest(known.includes(flag) ? `Flag not editable: '${flag}'` : `Invalid message flag: '${flag}'`);
}

async function unreadIds(executor: Executor, actor: Actor, scope: Unread): Promise<number[]> {
  const rows = await executor.any(sql.type(idRow)`
    SELECT m.id FROM ${unreadMessages(actor.realmId, actor.userId, { among: scope.unreadAmong, where: all(scope.conditions), order: 'ASC' })} m`);
  return rows.map((row) => row.id);
}

const subscribedRow = z.object({
  id: z.number(),
  channel_id: z.number().nullable(),
  is_subscribed: z.boolean(),
  has: z.boolean(),
});

interface Change {
  op: Op;
  flag: Editable;
  messageIds: readonly number[];
  /** SQL condition on a message `m`: whether the user may read it. Stars are removed from other messages too. */
  access: Fragment;
}

interface Changed {
  /** The number of messages that do not exist, or that the user may not read. */
  missing: number;
  changed: number[];
  skippedChannels: number[];
}

/**
 * Changes flags that differ, and notifies the user's clients. Messages of channels that the user is not subscribed to
 * are never unread. A message that gets a flag is locked, so that a deletion of the message, or a move that takes it from
 * the user, also finds the new flag.
 */
async function changeFlags(work: Work, { userId }: Actor, { op, flag, messageIds, access }: Change): Promise<Changed> {
  const isUnreading = flag === 'read' && op === 'remove';
  if (isUnreading) await finishLeaving(work, userId);
  await lockFlags(work, userId);
  if (op === 'remove' && flag !== 'read')
    return { missing: 0, changed: await removeFlag(work, userId, flag, messageIds), skippedChannels: [] };
  const isReading = flag === 'read' && op === 'add';
  const rows = await work.any(sql.type(subscribedRow)`
    SELECT m.id, m.channel_id, ${flag === 'read' ? isRead(userId) : hasFlag(userId, flag)} AS has,
      (m.channel_id IS NULL OR EXISTS (SELECT FROM messaging.subscription_period sp WHERE sp.realm_id = m.realm_id AND sp.user_id = ${userId}
        AND sp.channel_id = m.channel_id AND sp.to_id IS NULL)) AS is_subscribed
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.id = ANY(${sql.array([...messageIds], 'int8')}) AND ${access}
    ORDER BY m.id ${isReading ? sql.fragment`` : sql.fragment`FOR KEY SHARE OF m`}`);
  const missing = messageIds.length - rows.length;
  const isSkipped = (row: (typeof rows)[number]): boolean => isUnreading && !row.is_subscribed;
  const skipped = rows.filter(isSkipped);
  const changed = rows.filter((row) => row.has !== (op === 'add') && !isSkipped(row)).map((row) => row.id);
  const skippedChannels = [
    ...new Set(skipped.flatMap((row) => (row.channel_id === null ? [] : [row.channel_id]))),
  ].sort((a, b) => a - b);
  if (changed.length === 0) return { missing, changed, skippedChannels };
  if (isReading) await markRead(work, userId, changed);
  else if (flag === 'read') {
    await requireFewParticipants(work, changed);
    const details = await messageDetails(work, userId, changed);
    await setUnread(work, userId, changed);
    emitUnread(work, userId, changed, details);
  } else {
    await work.run(sql.unsafe`
      INSERT INTO messaging.flag (realm_id, user_id, flag, message_id)
      SELECT ${work.realmId}, ${userId}, ${flag}, id FROM unnest(${sql.array(changed, 'int8')}) id ON CONFLICT DO NOTHING`);
    emitFlags(work, userId, { op, flag }, changed);
  }
  return { missing, changed, skippedChannels };
}

/** The event of messages that become unread names the participants of each. */
async function requireFewParticipants(work: Work, messageIds: readonly number[]): Promise<void> {
  const { participants } = await work.one(sql.type(z.object({ participants: z.number() }))`
    SELECT coalesce(sum(cardinality(m.recipient_ids)), 0)::float8 AS participants
    FROM messaging.message m WHERE m.realm_id = ${work.realmId} AND m.id = ANY(${sql.array([...messageIds], 'int8')})`);
  if (participants > perRequest.participantsOfUnread)
    throw badRequest('The messages have too many participants for one request. Mark fewer of them as unread.');
}

/** Removes a flag of the user, also from messages that the user can no longer read. Returns the changed messages. */
async function removeFlag(
  work: Work,
  userId: number,
  flag: Exclude<Editable, 'read'>,
  messageIds: readonly number[],
): Promise<number[]> {
  const rows = await work.any(sql.type(idRow)`
    DELETE FROM messaging.flag WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND flag = ${flag}
      AND message_id = ANY(${sql.array([...messageIds], 'int8')}) RETURNING message_id AS id`);
  const changed = rows.map(({ id }) => id).sort((a, b) => a - b);
  if (changed.length > 0) emitFlags(work, userId, { op: 'remove', flag }, changed);
  return changed;
}
