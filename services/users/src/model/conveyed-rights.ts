import { isAdministrator } from '@natter/contracts';
import { readVersions, sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import { z } from 'zod';
import { mayAddMembers } from './access-group.ts';
import { readGroupRules } from './group-row.ts';
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

/**
 * An invitation grants only what its creator may still grant; undefined if it is void. A join locks the realm, so roles,
 * accounts and permissions of the realm do not change meanwhile; memberships are covered by expected versions.
 */
export async function conveyedRights(work: Work, realm: Realm, row: InvitationRow): Promise<Conveyed | undefined> {
  work.expectVersions(await readVersions(work, work.realmId, [`actor:${row.inviter_id}`, 'groups']));
  const inviter = await work.one(
    sql.type(accountRow)`SELECT is_active FROM users.account WHERE id = ${row.inviter_id}`,
  );
  const holder = await holderOf(work, row.inviter_id);
  const isByLink = row.email === null || row.link_id !== null;
  const permission = isByLink ? 'create_multiuse_invite_group' : 'can_invite_users_group';
  if (!inviter.is_active || holder.isBot || !mayIn(realm, permission, holder)) return undefined;
  if (!mayInviteAs(holder, row.invite_as)) return undefined;
  const groups = await readGroupRules(work, work.realmId, row.group_ids, sql.fragment`FOR SHARE OF g`);
  return {
    role: row.invite_as,
    groupIds: groups
      .filter((group) => !group.is_deactivated && !group.is_system && mayAddMembers(realm, group, holder))
      .map(({ id }) => id),
    welcomeText: isAdministrator(holder) ? row.welcome_text : null,
    mayAddSubscribers: mayIn(realm, 'can_add_subscribers_group', holder),
  };
}

/** The invited role may not be above the inviter's. */
export const mayInviteAs = (holder: Holder, role: number): boolean => role >= holder.role;
