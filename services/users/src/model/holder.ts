import { badRequest, type RealmPermission, realmPermissions, roles } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { type Holder, isPermitted } from '@natter/permissions';
import { z } from 'zod';
import type { Realm } from './read-realm.ts';

/** Ids of all groups of a user, directly or through subgroups. Deactivated groups are ignored. */
export async function groupIdsOf(executor: Executor, userId: number): Promise<number[]> {
  const { ids } = await executor.one(
    sql.type(z.object({ ids: z.array(z.number()) }))`SELECT users.group_ids(${userId}) AS ids`,
  );
  return ids;
}

/**
 * The user in the view of this transaction. Refusals use this, never the actor of the request, which may be older than
 * the role or the group that permits.
 */
export async function holderOf(executor: Executor, userId: number): Promise<Holder & { isBot: boolean }> {
  const { role, is_bot } = await executor.one(sql.type(z.object({ role: z.number(), is_bot: z.boolean() }))`
    SELECT role, is_bot FROM users.account WHERE id = ${userId}`);
  return { userId, role, isBot: is_bot, groupIds: await groupIdsOf(executor, userId) };
}

export function requireOwner(holder: Holder): void {
  if (holder.role !== roles.owner) throw badRequest('Must be an organization owner');
}

export const mayIn = (realm: Realm, permission: RealmPermission, holder: Holder): boolean =>
  isPermitted(realmPermissions[permission], realm.permissions[permission], holder);
