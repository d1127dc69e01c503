import { sql } from '@natter/database';

/**
 * Rights of one account beside its role, which only owners of the organization or the operator grant: columns of
 * `users.account`. A bot with one of them ranks as an owner, and loses all of them when its owner changes.
 */
export const grantedRights = ['can_create_users', 'can_change_user_emails', 'can_forge_sender'] as const;
export type GrantedRight = (typeof grantedRights)[number];

export const columnOf = (right: GrantedRight) => sql.identifier([right]);

/** Whether an account has any of these rights. The alias of `users.account` must be `account`. */
export const hasGrantedRight = sql.fragment`(${sql.join(
  grantedRights.map((right) => sql.fragment`account.${columnOf(right)}`),
  sql.fragment` OR `,
)})`;
