import { badRequest, isVisible, limits } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { AccountRow } from './account-row.ts';
import { emitPerson } from './announce-account.ts';
import { announceBotChange } from './announce-bot.ts';
import { requireFreeName } from './free-name.ts';
import { lockRealm, type Realm } from './read-realm.ts';

/** 2 to 100 characters, without control characters and characters of mention and link syntax. */
export function checkedFullName(name: string): string {
  const stripped = name.trim();
  if ([...stripped].length < 2 || !isVisible(stripped)) throw badRequest('Name too short!');
  if ([...stripped].length > limits.fullNameLength) throw badRequest('Name too long!');
  if (/[\p{C}*`\\>"@]/u.test(stripped) || /\|\d+$/.test(stripped)) throw badRequest('Invalid characters in name!');
  return stripped;
}

/**
 * If the realm requires unique names, refuses one that looks like an existing name. The realm is locked then, so that
 * nobody else takes the name meanwhile.
 */
export async function requireUniqueName(work: Work, realm: Realm, name: string, ownId?: number): Promise<void> {
  if (!realm.settings.require_unique_names) return;
  await lockRealm(work);
  const same = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND id <> ${ownId ?? 0}
      AND lower(normalize(full_name, NFKC)) = lower(normalize(${name}, NFKC)) LIMIT 1`);
  if (same) throw badRequest('Unique names required in this organization.');
}

/** Renames an account, if it may have the name. The realm is locked. */
export async function changeFullName(
  work: Work,
  realm: Realm,
  row: Pick<AccountRow, 'id' | 'is_bot' | 'bot_owner_id'>,
  full_name: string,
): Promise<void> {
  if (row.is_bot) await requireFreeName(work, full_name, row.id);
  await requireUniqueName(work, realm, full_name, row.id);
  await work.run(sql.unsafe`UPDATE users.account SET full_name = ${full_name} WHERE id = ${row.id}`);
  emitPerson(work, { user_id: row.id, full_name });
  if (row.is_bot) await announceBotChange(work, row, { full_name });
}
