import type { Actor } from '@natter/contracts';
import { type Fragment, sql } from '@natter/database';

/**
 * The person whose share an account uses: of a bot, the person who created it, also after it was given to another user.
 * Otherwise a member could give bots away to get new room, and use up the room of the users who receive them.
 */
export const personOf = (accountId: number | Fragment): Fragment =>
  sql.fragment`(SELECT coalesce(created_by, bot_owner_id, id) FROM users.account WHERE id = ${accountId})`;

/** The ids of the person who makes a request and of all bots that count for them. */
export const ownAccounts = ({ realmId, userId }: Actor): Fragment => accountsOf(realmId, personOf(userId));

export const accountsOf = (realmId: number, person: Fragment): Fragment =>
  sql.fragment`(SELECT id FROM users.account WHERE realm_id = ${realmId}
    AND (id = ${person} OR (is_bot AND coalesce(created_by, bot_owner_id) = ${person})))`;
