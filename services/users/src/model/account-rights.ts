import { badRequest } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { AccountRow } from './account-row.ts';
import { renewLeakedKeys } from './bot-key.ts';
import type { KeySeal } from './credentials/key-seal.ts';

/** Rights of one account, beside its role. `undefined` keeps a right as it is. */
export interface AccountRights {
  can_create_users?: boolean | undefined;
  can_change_user_emails?: boolean | undefined;
  can_forge_sender?: boolean | undefined;
}

/**
 * Grants and withdraws rights. Requests in progress of the user are decided again with the new rights. The realm is locked,
 * because bots whose keys are known to users without the right to read them get new keys.
 */
export async function changeRights(
  work: Work,
  row: Pick<AccountRow, 'id' | 'is_bot' | 'is_system_bot'>,
  rights: AccountRights,
  seal: KeySeal,
): Promise<void> {
  const { can_create_users = null, can_change_user_emails = null, can_forge_sender = null } = rights;
  if (can_create_users === null && can_change_user_emails === null && can_forge_sender === null) return;
  if (can_forge_sender && (!row.is_bot || row.is_system_bot)) throw badRequest('Only bots can forge senders');
  await work.run(sql.unsafe`
    UPDATE users.account SET can_create_users = coalesce(${can_create_users}, can_create_users),
      can_change_user_emails = coalesce(${can_change_user_emails}, can_change_user_emails),
      can_forge_sender = coalesce(${can_forge_sender}, can_forge_sender)
    WHERE id = ${row.id}`);
  work.bump(`actor:${row.id}`);
  if (can_forge_sender) await renewLeakedKeys(work, seal);
}

/**
 * Ends the right to send in the name of others, of all bots of a user or of one bot. An owner of the organization granted
 * the right to the bot of a certain user, so an owner has to grant it again after that user changed.
 */
export async function endForging(work: Work, of: { ownerId: number } | { botId: number }): Promise<void> {
  const which = 'botId' in of ? sql.fragment`id = ${of.botId}` : sql.fragment`bot_owner_id = ${of.ownerId}`;
  const ended = await work.any(sql.type(z.object({ id: z.number() }))`
    UPDATE users.account SET can_forge_sender = false
    WHERE realm_id = ${work.realmId} AND ${which} AND is_bot AND can_forge_sender RETURNING id`);
  for (const { id } of ended) work.bump(`actor:${id}`);
}
