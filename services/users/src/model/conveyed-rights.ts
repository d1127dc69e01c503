import { isAdministrator } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { z } from 'zod';
import { mayInGroup, mayManage } from './access-group.ts';
import { findGroup } from './group-row.ts';
import { holderOf, mayIn } from './holder.ts';
import type { InvitationRow } from './invitation-row.ts';
import type { Realm } from './read-realm.ts';

/** The rights that an invitation grants at the moment of joining. */
export interface Conveyed {
  role: number;
  groupIds: number[];
  welcomeText: string | null;
  /**
   * Whether the inviter may add subscribers in general. The channels service checks each channel when it subscribes the
   * new user, with its own tables.
   */
  mayAddSubscribers: boolean;
}

const accountRow = z.object({ is_active: z.boolean() });
const versionRow = z.object({ key: z.string(), version: z.number() });

/**
 * An invitation grants only what its creator may still grant; undefined if it is void. A join locks the realm, so roles,
 * accounts and permissions of the realm do not change meanwhile; memberships are covered by expected versions.
 */
export async function conveyedRights(work: Work, realm: Realm, row: InvitationRow): Promise<Conveyed | undefined> {
  const versions = await work.any(sql.type(versionRow)`
    SELECT key, version FROM log.versions(${work.realmId}, ${sql.array([`actor:${row.inviter_id}`, 'groups'], 'text')})`);
  work.expectVersions(Object.fromEntries(versions.map(({ key, version }) => [key, version])));
  const inviter = await work.one(
    sql.type(accountRow)`SELECT is_active FROM users.account WHERE id = ${row.inviter_id}`,
  );
  const holder = await holderOf(work, row.inviter_id);
  const isByLink = row.email === null || row.link_id !== null;
  const permission = isByLink ? 'create_multiuse_invite_group' : 'can_invite_users_group';
  if (!inviter.is_active || holder.isBot || !mayIn(realm, permission, holder)) return undefined;
  if (!mayInviteAs(holder, row.invite_as)) return undefined;
  const groupIds: number[] = [];
  // A client may have named a group twice.
  for (const id of [...new Set(row.group_ids)].sort((a, b) => a - b))
    if (await mayAddToGroup(work, id, holder)) groupIds.push(id);
  return {
    role: row.invite_as,
    groupIds,
    welcomeText: isAdministrator(holder) ? row.welcome_text : null,
    mayAddSubscribers: mayIn(realm, 'can_add_subscribers_group', holder),
  };
}

/** The invited role may not be above the inviter's. */
export const mayInviteAs = (holder: Holder, role: number): boolean => role >= holder.role;

async function mayAddToGroup(work: Work, id: number, holder: Holder): Promise<boolean> {
  await work.run(sql.unsafe`SELECT FROM users.user_group WHERE realm_id = ${work.realmId} AND id = ${id} FOR SHARE`);
  const group = await findGroup(work, work.realmId, id);
  if (!group || group.is_deactivated || group.is_system) return false;
  return mayInGroup(group, 'can_add_members_group', holder) || (await mayManage(work, group, holder));
}
