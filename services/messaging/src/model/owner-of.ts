import type { Actor } from '@natter/contracts';
import { type Fragment, sql } from '@natter/database';

/**
 * The person whose room a bot uses: who created it, so that a bot which is given away takes no room from the next owner.
 * A person, or a bot without an owner, counts as their own.
 */
export const ownerOf = (bot: { realmId: Fragment; botId: Fragment }): Fragment =>
  sql.fragment`coalesce((SELECT coalesce(s.created_by, s.bot_owner_id) FROM messaging.standing s
    WHERE s.realm_id = ${bot.realmId} AND s.user_id = ${bot.botId}), ${bot.botId})`;

/**
 * Whether a row counts for the person who makes a request: it is of this account, of the person, or of another of their
 * bots. The first condition also holds for a bot that is not known here yet. `accountId` names its table.
 */
export const isOfPerson = ({ realmId, userId }: Actor, accountId: Fragment): Fragment => {
  const [realm, own] = [sql.fragment`${realmId}::int`, sql.fragment`${userId}::int`];
  return sql.fragment`(${accountId} = ${own} OR ${ownerOf({ realmId: realm, botId: accountId })} = ${ownerOf({ realmId: realm, botId: own })})`;
};

/** The ids of this account, of its person, and of the bots that count for that person. */
export const accountsOfPerson = (realmId: number, userId: number): Fragment => {
  const [realm, own] = [sql.fragment`${realmId}::int`, sql.fragment`${userId}::int`];
  const person = ownerOf({ realmId: realm, botId: own });
  return sql.fragment`ARRAY(SELECT ${own} UNION SELECT ${person} UNION SELECT b.user_id FROM messaging.standing b
    WHERE b.realm_id = ${realm} AND coalesce(b.created_by, b.bot_owner_id) = ${person})`;
};
