import { isGuest, roles } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { Viewer } from './account-row.ts';

const limitRow = z.object({ limits_guests: z.boolean() });

export async function limitsGuests(executor: Executor, realmId: number): Promise<boolean> {
  const row = await executor.maybeOne(sql.type(limitRow)`SELECT limits_guests FROM users.realm WHERE id = ${realmId}`);
  return row?.limits_guests ?? false;
}

/** Like `limitsGuests`; locks user visibility until this unit ends. */
export async function lockUserVisibility(work: Work): Promise<boolean> {
  const row = await work.maybeOne(
    sql.type(limitRow)`SELECT limits_guests FROM users.realm WHERE id = ${work.realmId} FOR SHARE`,
  );
  return row?.limits_guests ?? false;
}

const blindRow = z.object({ guest_id: z.number(), people: z.array(z.number()) });

/**
 * By guest, the users they may not see: those with whom they share no channel and have no direct conversation.
 * Restricted to the given guests and users, if any. System bots are visible to all.
 */
export async function hiddenPeople(
  executor: Executor,
  realmId: number,
  only: { guests?: readonly number[]; people?: readonly number[] },
): Promise<Map<number, number[]>> {
  const among = (column: ReturnType<typeof sql.fragment>, ids: readonly number[] | undefined) =>
    ids === undefined ? sql.fragment`true` : sql.fragment`${column} = ANY(${sql.array([...ids], 'int4')})`;
  const rows = await executor.any(sql.type(blindRow)`
    WITH guest AS (SELECT id FROM users.account WHERE realm_id = ${realmId} AND role = ${roles.guest} AND NOT is_system_bot
        AND ${among(sql.fragment`id`, only.guests)}),
      person AS (SELECT id FROM users.account WHERE realm_id = ${realmId} AND NOT is_system_bot AND ${among(sql.fragment`id`, only.people)}),
      hidden AS (
        SELECT guest.id AS guest_id, person.id AS person_id FROM guest, person WHERE guest.id <> person.id
        EXCEPT
        SELECT own.user_id, other.user_id FROM guest JOIN users.shared_channel own ON own.user_id = guest.id
          JOIN users.shared_channel other ON other.channel_id = own.channel_id AND ${among(sql.fragment`other.user_id`, only.people)}
        EXCEPT
        SELECT c.user_id, c.partner_id FROM guest JOIN users.direct_contact c ON c.user_id = guest.id)
    SELECT guest_id, json_agg(person_id ORDER BY person_id) AS people FROM hidden GROUP BY guest_id ORDER BY guest_id`);
  return new Map(rows.map(({ guest_id, people }) => [guest_id, people]));
}

const nobody: ReadonlySet<number> = new Set();

/** The users that this viewer may not see. */
export async function hiddenFrom(executor: Executor, realmId: number, viewer: Viewer): Promise<ReadonlySet<number>> {
  if (!viewer || !isGuest(viewer) || !(await limitsGuests(executor, realmId))) return nobody;
  const hidden = await hiddenPeople(executor, realmId, { guests: [viewer.userId] });
  return new Set(hidden.get(viewer.userId));
}
