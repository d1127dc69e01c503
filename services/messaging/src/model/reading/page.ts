import { badRequest } from '@natter/contracts';
import { type Executor, type Fragment, plannedEachTime, readAtOnce, sql } from '@natter/database';
import { z } from 'zod';
import { unreadMessages } from '../unread-messages.ts';
import { isReceived, type Readable } from './readable.ts';
import type { Reader } from './reader.ts';
import type { Scope } from './scope.ts';

/** Larger than the id of any message: the anchor of "newest". */
export const largerThanAnyId = 10_000_000_000_000_000;
const idRow = z.object({ id: z.number() });

export interface PageWanted {
  anchor: number | string;
  /** Seconds since 1970; only for the anchor `date`. */
  date?: number | undefined;
  includeAnchor: boolean;
  before: number;
  after: number;
}

export interface Page {
  anchor: number;
  ids: number[];
  /** Number of ids before the anchor. */
  before: number;
  foundAnchor: boolean;
  foundOldest: boolean;
  foundNewest: boolean;
}

/**
 * The ids around an anchor, ascending. Every page is read from an index: a feed is merged from the newest messages of
 * each conversation.
 */
export async function pageOf(reader: Reader, scope: Scope, wanted: PageWanted): Promise<Page> {
  const { executor } = reader;
  if (!wanted.includeAnchor && wanted.before > 0 && wanted.after > 0)
    throw badRequest('The anchor can only be excluded at an end of the range');
  const anchor = await anchorOf(reader, scope, wanted);
  const isOldest = anchor <= 0;
  const isNewest = anchor >= largerThanAnyId;
  const beside = await idsOfEach(executor, {
    before:
      !isOldest &&
      (await idsBeside(reader, scope, { where: sql.fragment`m.id < ${anchor}`, order: 'DESC', limit: wanted.before })),
    at:
      !isOldest &&
      !isNewest &&
      wanted.includeAnchor &&
      idsWhere(scope, { where: sql.fragment`m.id = ${anchor}`, order: 'ASC', limit: 1 }),
    after:
      !isNewest &&
      (await idsBeside(reader, scope, { where: sql.fragment`m.id > ${anchor}`, order: 'ASC', limit: wanted.after })),
  });
  const { before = [], at = [], after = [] } = beside;
  return {
    anchor,
    ids: [...before.reverse(), ...at, ...after],
    before: before.length,
    foundAnchor: at.length > 0,
    foundOldest: isOldest || before.length < wanted.before,
    foundNewest: isNewest || after.length < wanted.after,
  };
}

/** A page of the messages with these ids. */
export const pageOfIds = (ids: number[]): Page => ({
  anchor: 0,
  ids,
  before: 0,
  foundAnchor: false,
  foundOldest: false,
  foundNewest: false,
});

/** The first messages of a scope, in this order, that fulfil a condition. */
interface Selection {
  where: Fragment;
  order: 'ASC' | 'DESC';
  limit: number;
}

type IdQuery = ReturnType<typeof idsWhere>;

/** The ids that each query returns. Several queries are one statement. */
async function idsOfEach<Name extends string>(
  executor: Executor,
  queries: Record<Name, IdQuery | false | undefined>,
): Promise<Partial<Record<Name, number[]>>> {
  const asked = Object.entries<IdQuery | false | undefined>(queries).filter(
    (entry): entry is [string, IdQuery] => typeof entry[1] === 'object',
  );
  const [first, ...others] = asked;
  if (!first) return {};
  const found =
    others.length > 0
      ? await readAtOnce(executor, Object.fromEntries(asked))
      : { [first[0]]: await executor.any(first[1]) };
  return Object.fromEntries(Object.entries(found).map(([name, rows]) => [name, rows.map(({ id }) => id)])) as Partial<
    Record<Name, number[]>
  >;
}

async function anchorOf(
  reader: Reader,
  scope: Scope,
  { anchor: given, date }: Pick<PageWanted, 'anchor' | 'date'>,
): Promise<number> {
  if (date !== undefined) return (await firstSince(reader, scope, date)) ?? largerThanAnyId;
  if (given === 'newest') return largerThanAnyId;
  if (given === 'oldest') return 0;
  if (given === 'first_unread') return (await firstUnread(reader, scope)) ?? largerThanAnyId;
  const number = typeof given === 'number' ? given : /^-?\d+$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isNaN(number)) throw badRequest('Invalid anchor');
  return Math.min(Math.max(number, 0), largerThanAnyId);
}

const sentRow = z.object({ id: z.number(), sent: z.number() });

/** The first message of the scope sent at or after a time. Ids increase with time, so it is found by binary search. */
async function firstSince(reader: Reader, scope: Scope, seconds: number): Promise<number | undefined> {
  const { executor, meta } = reader;
  const beyond = (condition: Fragment) =>
    executor.maybeOne(sql.type(sentRow)`
      SELECT id, extract(epoch FROM sent_at)::float8 AS sent FROM messaging.message
      WHERE realm_id = ${meta.realmId} AND ${condition} LIMIT 1`);
  const newest = await beyond(sql.fragment`true ORDER BY id DESC`);
  if (!newest || newest.sent < seconds) return undefined;
  let [early, late] = [0, newest.id];
  while (early < late) {
    const middle = Math.floor((early + late) / 2);
    const found = await beyond(sql.fragment`id >= ${middle} ORDER BY id`);
    if (!found || found.sent >= seconds) late = middle;
    else early = found.id + 1;
  }
  const query = await idsBeside(reader, scope, { where: sql.fragment`m.id >= ${early}`, order: 'ASC', limit: 1 });
  return query && (await executor.maybeOne(query))?.id;
}

/**
 * Unread messages among which the first one that is not muted is looked for. Messages of muted channels are left out before;
 * a muted topic may have as many as others write. If all of them are muted, the page begins at the last of them, so that it
 * skips none.
 */
const triedUnread = 5_000;

/** `unreadMessages` keeps the order of ids, and `place` counts in it. An ORDER BY would try all before it returns the first. */
async function firstUnread({ executor, meta, actor }: Reader, scope: Scope): Promise<number | undefined> {
  if (!actor) return undefined;
  const { unreadAmong: among, conditions, mayBeFirstUnread } = scope;
  const unread = unreadMessages(meta.realmId, actor.userId, {
    among,
    where: all(conditions),
    skipsMuted: true,
    order: 'ASC',
  });
  const row = await executor.maybeOne(sql.type(idRow)`
    SELECT ${plannedEachTime} id FROM (
      SELECT m.id, ${mayBeFirstUnread} AS is_wanted, row_number() OVER () AS place FROM ${unread} m LIMIT ${triedUnread}) tried
    WHERE is_wanted OR place = ${triedUnread} LIMIT 1`);
  return row?.id;
}

/** The query for ids of messages that match `selection`; undefined if its limit is 0. */
async function idsBeside(reader: Reader, scope: Scope, selection: Selection): Promise<IdQuery | undefined> {
  const { where, order, limit } = selection;
  const { meta, actor } = reader;
  if (limit === 0) return undefined;
  if (!scope.isFeed || !actor) return idsWhere(scope, selection);
  const direction = order === 'ASC' ? sql.fragment`ASC` : sql.fragment`DESC`;
  // Messages moved to channels that the reader never was in are found through the channel, not through the feed.
  const readable = await reader.readable();
  const ofChannels = (ids: Readable['whole'], condition: Fragment): Fragment => sql.fragment`
    SELECT f.id FROM unnest(${ids}) p (channel_id), LATERAL (SELECT m.id FROM messaging.message m
      WHERE m.channel_id = p.channel_id AND ${all(scope.narrowing)} AND ${condition} AND ${where} ORDER BY m.id ${direction} LIMIT ${limit}) f`;
  return sql.type(idRow)`
    SELECT ${plan(scope)} m.id FROM (
      ${ofChannels(readable.whole, sql.fragment`true`)}
      UNION ALL ${ofChannels(readable.received, isReceived(readable, actor))}
      UNION ALL (SELECT d.message_id AS id FROM messaging.direct_message d JOIN messaging.message m ON m.realm_id = d.realm_id AND m.id = d.message_id
        WHERE d.realm_id = ${meta.realmId} AND d.user_id = ${actor.userId} AND ${all(scope.narrowing)} AND ${where} ORDER BY d.message_id ${direction} LIMIT ${limit})
    ) m ORDER BY m.id ${direction} LIMIT ${limit}`;
}

function idsWhere(scope: Scope, { where, order, limit }: Selection) {
  const direction = order === 'ASC' ? sql.fragment`ASC` : sql.fragment`DESC`;
  return sql.type(idRow)`
    SELECT ${plan(scope)} m.id FROM messaging.message m WHERE ${all(scope.conditions)} AND ${where} ORDER BY m.id ${direction} LIMIT ${limit}`;
}

export async function select(executor: Executor, scope: Scope, selection: Selection): Promise<number[]> {
  const rows = await executor.any(idsWhere(scope, selection));
  return rows.map((row) => row.id);
}

/** The ids that belong to the scope, in ascending order. */
export const selectAmong = (executor: Executor, scope: Scope, ids: readonly number[]): Promise<number[]> =>
  select(executor, scope, {
    where: sql.fragment`m.id = ANY(${sql.array([...ids], 'int8')})`,
    order: 'ASC',
    limit: ids.length,
  });

const plan = (scope: Scope): Fragment => (scope.isPlain ? sql.fragment`` : plannedEachTime);

export const all = (conditions: readonly Fragment[]): Fragment =>
  sql.fragment`${sql.join([...conditions], sql.fragment` AND `)}`;
