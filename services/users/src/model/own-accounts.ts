import type { Actor } from '@natter/contracts';
import { sql } from '@natter/database';

/** The ids of the person who makes a request and of their bots. */
export function ownAccounts({ realmId, userId, botOwnerId = userId }: Actor) {
  return sql.fragment`(SELECT id FROM users.account WHERE realm_id = ${realmId} AND (id = ${botOwnerId} OR bot_owner_id = ${botOwnerId}))`;
}
