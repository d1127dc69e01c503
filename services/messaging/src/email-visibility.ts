import { type Actor, type IdSet, idSet, idsOf, roles } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** The least role that sees real addresses, by what their owners chose (semantics 10); nobody else's is 0. */
const leastRole = sql.fragment`CASE v.value::text WHEN '2' THEN ${roles.member} WHEN '3' THEN ${roles.administrator}
  WHEN '5' THEN ${roles.moderator} WHEN '4' THEN 0 ELSE ${roles.guest} END`;
const choice = (realmId: number) =>
  sql.fragment`FROM messaging.personal_setting v WHERE v.realm_id = ${realmId} AND v.name = 'email_address_visibility'`;

/** Of these people those whose real address the viewer may not know; bots hide none. */
export const whoHidesEmail = (realmId: number, userIds: readonly number[], viewer: Pick<Actor, 'userId' | 'role'>) =>
  sql.type(z.object({ user_id: z.number() }))`
    SELECT v.user_id ${choice(realmId)} AND v.user_id = ANY(${sql.array([...userIds], 'int4')})
      AND v.user_id <> ${viewer.userId} AND ${viewer.role} > ${leastRole}`;

/**
 * Who of the receivers, or of all where an open channel is read beyond them, may not know the sender's real address; undefined where everybody may. Nothing is looked up for an
 * address that is told to everybody: one that is not only names the account.
 */
export async function emailHiddenFrom(
  executor: Executor,
  { realmId, userId, isBot }: Pick<Actor, 'realmId' | 'userId' | 'isBot'>,
  email: string,
  receivers: IdSet | 'realm',
): Promise<IdSet | undefined> {
  if (isBot || !email.startsWith(`user${userId}@`)) return undefined;
  const among =
    receivers === 'realm' ? sql.fragment`true` : sql.fragment`s.user_id = ANY(${sql.array(idsOf(receivers), 'int4')})`;
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT s.user_id FROM messaging.standing s, (SELECT ${leastRole} AS least ${choice(realmId)} AND v.user_id = ${userId}) l
    WHERE s.realm_id = ${realmId} AND s.role > l.least AND s.user_id <> ${userId} AND ${among}`);
  return rows.length === 0 ? undefined : idSet(rows.map((row) => row.user_id));
}
