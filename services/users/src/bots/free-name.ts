import { badRequest } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { readBots } from '../model/bot-row.ts';

export async function requireFreeName(work: Work, name: string, ownId = 0): Promise<void> {
  const same = await readBots(
    work,
    work.realmId,
    sql.fragment`account.is_active AND account.id <> ${ownId} AND lower(account.full_name) = lower(${name})`,
  );
  if (same.length > 0) throw badRequest('Name is already in use!');
}
