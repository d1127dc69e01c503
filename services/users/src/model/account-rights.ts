import { badRequest } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
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
 * Grants and takes rights. Requests that the user has sent before are decided again with the new ones. The realm is
 * locked, because keys of bots depend on who may read them.
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
