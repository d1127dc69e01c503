import { badRequest, entriesOf, sharePerMember, totals } from '@natter/contracts';
import { z } from 'zod';
import { type Fragment, sql } from './database.ts';
import { lock } from './lock.ts';
import type { Work } from './work.ts';

const stateRow = z.object({ count: z.number(), bytes: z.number(), longest: z.number() });

/** A realm never runs more units than this at once. */
const unitsAtOnce = 100;

type TotalName = keyof typeof totals;
type Total = (typeof totals)[TotalName];

/**
 * Refuses a unit that exceeds the maximum size of a collection. Call it after the INSERT or UPDATE; `rows` follows FROM
 * and selects the whole collection. `bytes` is the size of a row's text, if the total limits it. `added` is the number of
 * rows that the unit added. If as many units like this one as run at once have room, the unit only counts the collection.
 * Otherwise it takes a lock of the realm, so that concurrent units cannot exceed the limits together.
 */
export function requireRoom<T extends Total>(
  work: Work,
  total: T,
  rows: Fragment,
  ...[bytes, added]: Measured<T>
): Promise<void> {
  return requireWithin(work, total, { what: total.what, part: 1 }, { rows, bytes, added });
}

/**
 * Limits the rows of one user in a collection that members of the realm share, so that one member cannot use up the limit of
 * the realm. Call it before `requireRoom`, and not for administrators, who may use all of it.
 */
export function requireShare<T extends Total>(
  work: Work,
  total: T,
  rows: Fragment,
  ...[bytes, added]: Measured<T>
): Promise<void> {
  const ofOne = { what: `${total.what} of one user`, part: sharePerMember };
  return requireWithin(work, total, ofOne, { rows, bytes, added });
}

type Measured<T extends Total> = T extends { bytes: number }
  ? [bytes: Fragment, added?: number]
  : [bytes?: undefined, added?: number];

interface Collection {
  rows: Fragment;
  bytes: Fragment | undefined;
  added: number | undefined;
}

async function requireWithin(
  work: Work,
  total: Total,
  { what, part }: { what: string; part: number },
  { rows, bytes = sql.fragment`0`, added = 1 }: Collection,
): Promise<void> {
  const limit = Math.floor(total.limit * part);
  const maxBytes = 'bytes' in total ? total.bytes * part : Number.POSITIVE_INFINITY;
  const state = () =>
    work.one(sql.type(stateRow)`
      SELECT count(*)::int AS count, coalesce(sum(bytes), 0)::float8 AS bytes, coalesce(max(bytes), 0)::float8 AS longest
      FROM (SELECT ${bytes} AS bytes FROM ${rows} LIMIT ${limit + 1}) counted`);
  const before = await state();
  // None of their rows is assumed to be longer than the longest one, which may be of this unit.
  const byOthers = (unitsAtOnce - 1) * added;
  if (before.count + byOthers <= limit && before.bytes + byOthers * before.longest <= maxBytes) return;
  await lock(work, `total:${nameOf(total)}`);
  const after = await state();
  if (after.count > limit) throw badRequest(`Too many ${what} (limit: ${limit})`);
  const content = 'content' in total ? total.content : 'text';
  if (after.bytes > maxBytes) throw badRequest(`Too much ${content} in ${what} (limit: ${maxBytes / 1024} KiB)`);
}

interface Permissions<T extends Total> {
  total: T;
  /** Follows FROM: all channels or groups of the realm. */
  ofRealm: Fragment;
  /** A parenthesized list of the accounts of the person whose share counts; undefined for administrators. */
  accounts: Fragment | undefined;
  /** The values before the change; undefined for a new row. */
  before: object | undefined;
  after: object;
  /** How many rows the unit added. */
  added: number;
}

/**
 * Limits the rows, and the text of their permissions, in all and for one person. The text counts for the person who last
 * made it longer, whoever created the channel or group: otherwise a member could write long lists into those of others.
 * Call it after the INSERT, or after an UPDATE that sets `permissions_by` by `authorOfPermissions`.
 */
export async function requireRoomForPermissions<T extends typeof totals.channels | typeof totals.groups>(
  work: Work,
  { total, ofRealm, accounts, before, after, added }: Permissions<T>,
): Promise<void> {
  const bytes = bytesOfPermissions(after);
  const [none, ofOne] = [sql.fragment`0`, { what: `${total.what} of one user`, part: sharePerMember }];
  if (accounts && !before)
    await requireWithin(work, total, ofOne, {
      rows: sql.fragment`${ofRealm} AND creator_id IN ${accounts}`,
      bytes: none,
      added,
    });
  if (accounts && isLong(after) && isLonger(before, after))
    await requireWithin(work, total, ofOne, {
      rows: sql.fragment`${ofRealm} AND coalesce(permissions_by, creator_id) IN ${accounts} AND ${bytes} > 0`,
      bytes,
      added,
    });
  await requireWithin(work, total, { what: total.what, part: 1 }, { rows: ofRealm, bytes, added });
}

/** The value of `permissions_by` after a change: the actor, if the permissions became longer. */
export const authorOfPermissions = (actorId: number, before: object, after: object): Fragment =>
  isLonger(before, after) ? sql.fragment`${actorId}::int` : sql.fragment`permissions_by`;

const isLonger = (before: object | undefined, after: object): boolean =>
  before === undefined || JSON.stringify(after).length > JSON.stringify(before).length;

/** Permissions of this length name few users. Longer ones may name thousands. */
const usualPermissions = 1_500;
const isLong = (stored: object): boolean => JSON.stringify(stored).length > usualPermissions;

/**
 * The text of a row's `permissions` beyond the usual size. Not measured for a unit that stores usual ones, because that
 * takes longer than counting the rows.
 */
const bytesOfPermissions = (stored: object): Fragment =>
  !isLong(stored) ? sql.fragment`0` : sql.fragment`greatest(octet_length(permissions::text) - ${usualPermissions}, 0)`;

const names = new Map<Total, TotalName>(entriesOf(totals).map(([name, total]) => [total, name]));
const nameOf = (total: Total): TotalName => {
  const name = names.get(total);
  if (!name) throw new Error(`${total.what} is not one of totals`);
  return name;
};
