import { type Actor, type IdSet, idSet, idsOf, roles } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** SQL expression: the lowest role that may see the real address of a user, by the user's setting; 0 if nobody else may. */
const leastRole = sql.fragment`CASE v.value::text WHEN '2' THEN ${roles.member} WHEN '3' THEN ${roles.administrator}
  WHEN '5' THEN ${roles.moderator} WHEN '4' THEN 0 ELSE ${roles.guest} END`;
const choice = (realmId: number) =>
  sql.fragment`FROM messaging.personal_setting v WHERE v.realm_id = ${realmId} AND v.name = 'email_address_visibility'`;

/**
 * Among these users, given as a query of their ids, those whose real address the viewer may not see; addresses of bots
 * are visible to all.
 */
export const whoHidesEmail = (
  realmId: number,
  userIds: ReturnType<typeof sql.fragment>,
  viewer: Pick<Actor, 'userId' | 'role'>,
) =>
  sql.type(z.object({ user_id: z.number() }))`
    SELECT v.user_id ${choice(realmId)} AND v.user_id = ANY(ARRAY(${userIds}))
      AND v.user_id <> ${viewer.userId} AND ${viewer.role} > ${leastRole}`;

/** Whether some users may not see the author's real address: then the address visible to all is another one. */
export const hidesEmail = ({ userId, isBot, email }: Pick<Actor, 'userId' | 'isBot' | 'email'>): boolean =>
  !isBot && email.startsWith(`user${userId}@`);

/**
 * The receivers (or all users, if an open channel is read by others too) who may not see the sender's real address;
 * undefined if everyone may.
 */
export async function emailHiddenFrom(
  executor: Executor,
  { realmId, userId }: Pick<Actor, 'realmId' | 'userId'>,
  receivers: IdSet | 'realm',
): Promise<IdSet | undefined> {
  const among =
    receivers === 'realm' ? sql.fragment`true` : sql.fragment`s.user_id = ANY(${sql.array(idsOf(receivers), 'int4')})`;
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT s.user_id FROM messaging.standing s, (SELECT ${leastRole} AS least ${choice(realmId)} AND v.user_id = ${userId}) l
    WHERE s.realm_id = ${realmId} AND s.role > l.least AND s.user_id <> ${userId} AND ${among}`);
  return rows.length === 0 ? undefined : idSet(rows.map((row) => row.user_id));
}
