import { ChatError, isGuest, roles } from '@natter/contracts';
import { type Executor, inTurns, sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { Viewer } from './account-row.ts';
import { noteRealmLock } from './lock-order.ts';
import { Pairs } from './pairs.ts';

const limitRow = z.object({ limits_guests: z.boolean() });

export async function limitsGuests(executor: Executor, realmId: number): Promise<boolean> {
  const row = await executor.maybeOne(sql.type(limitRow)`SELECT limits_guests FROM users.realm WHERE id = ${realmId}`);
  return row?.limits_guests ?? false;
}

/** Like `limitsGuests`; locks the realm in shared mode until this unit ends, so that user visibility does not change. */
export async function lockUserVisibility(work: Work): Promise<boolean> {
  noteRealmLock(work);
  const row = await work.maybeOne(
    sql.type(limitRow)`SELECT limits_guests FROM users.realm WHERE id = ${work.realmId} FOR SHARE`,
  );
  return row?.limits_guests ?? false;
}

const idsRow = z.object({ guests: z.array(z.number()), people: z.array(z.number()) });
const sharedRow = z.object({ count: z.number() });
const knownRow = z.object({ guest_id: z.number(), people: z.array(z.number()) });

/** Guests times users of one question; more are refused before they are read. They take a bit each. */
const maxPairs = 20_000_000;
/** The same for each channel that they share: Postgres goes through a million in about a second. */
const maxShared = 5_000_000;
/** Guests times users whose rows one statement returns, so that no turn of the event loop takes long. */
const pairsAtOnce = 100_000;

/**
 * By guest, the users they may not see: those with whom they share no channel and have no direct conversation.
 * Restricted to the given guests and users, if any. System bots are visible to all.
 */
export async function hiddenPeople(
  executor: Executor,
  realmId: number,
  only: { guests?: readonly number[]; people?: readonly number[] },
): Promise<Pairs> {
  const { guests, people } = await executor.one(sql.type(idsRow)`
    SELECT coalesce(json_agg(id ORDER BY id) FILTER (WHERE role = ${roles.guest} AND ${among(sql.fragment`id`, only.guests)}), '[]') AS guests,
      coalesce(json_agg(id ORDER BY id) FILTER (WHERE ${among(sql.fragment`id`, only.people)}), '[]') AS people
    FROM users.account WHERE realm_id = ${realmId} AND NOT is_system_bot`);
  requireFew(guests.length * people.length, maxPairs);
  const hidden = new Pairs(guests, people);
  if (guests.length > 1 && people.length > 1) requireFew(await countShared(executor, guests, only.people), maxShared);
  const atOnce = Math.max(1, Math.floor(pairsAtOnce / Math.max(people.length, 1)));
  const takeTurns = inTurns();
  for (let at = 0; at < guests.length; at += atOnce) {
    await takeTurns();
    const these = sql.array(guests.slice(at, at + atOnce), 'int4');
    const rows = await executor.any(sql.type(knownRow)`
      SELECT guest_id, json_agg(person_id) AS people FROM (
        SELECT own.user_id AS guest_id, other.user_id AS person_id
        FROM users.shared_channel own JOIN users.shared_channel other ON other.channel_id = own.channel_id
        WHERE own.user_id = ANY(${these}) AND ${among(sql.fragment`other.user_id`, only.people)}
        UNION
        SELECT user_id, partner_id FROM users.direct_contact
        WHERE user_id = ANY(${these}) AND ${among(sql.fragment`partner_id`, only.people)}) known
      GROUP BY guest_id`);
    for (const { guest_id, people: known } of rows) hidden.remove(guest_id, known);
  }
  return hidden;
}

const among = (column: ReturnType<typeof sql.fragment>, ids: readonly number[] | undefined) =>
  ids === undefined ? sql.fragment`true` : sql.fragment`${column} = ANY(${sql.array([...ids], 'int4')})`;

/** Pairs of these guests and users, once for each channel that they share. */
async function countShared(executor: Executor, guests: readonly number[], people: readonly number[] | undefined) {
  const { count } = await executor.one(sql.type(sharedRow)`
    SELECT coalesce(sum(own.n * other.n), 0)::float8 AS count
    FROM (SELECT channel_id, count(*) AS n FROM users.shared_channel
      WHERE user_id = ANY(${sql.array([...guests], 'int4')}) GROUP BY channel_id) own,
      LATERAL (SELECT count(*) AS n FROM users.shared_channel o
        WHERE o.channel_id = own.channel_id AND ${among(sql.fragment`o.user_id`, people)}) other`);
  return count;
}

export const isTooLarge = (error: unknown): boolean => error instanceof ChatError && error.code === 'REQUEST_TOO_LARGE';

function requireFew(pairs: number, most: number): void {
  if (pairs > most)
    throw new ChatError(
      'REQUEST_TOO_LARGE',
      'The request changes too many users at once for an organization that limits which users its guests see',
    );
}

const nobody: ReadonlySet<number> = new Set();

/** The users that this viewer may not see. */
export async function hiddenFrom(executor: Executor, realmId: number, viewer: Viewer): Promise<ReadonlySet<number>> {
  if (!viewer || !isGuest(viewer) || !(await limitsGuests(executor, realmId))) return nobody;
  const hidden = await hiddenPeople(executor, realmId, { guests: [viewer.userId] });
  return new Set(hidden.peopleOf(viewer.userId));
}
