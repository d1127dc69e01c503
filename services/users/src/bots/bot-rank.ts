import { badRequest, type ChatError } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { type AccountRow, accountColumns, accountRow } from '../accounts/account-row.ts';
import { setRole } from '../accounts/change-role.ts';
import { readAccount } from '../accounts/find-account.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import { lockRealm } from '../realm/read-realm.ts';

const outranked = (): ChatError => badRequest('Insufficient permission');

/** Nobody reads the key of a bot above their own role, nor changes it. */
export function requireRank(holder: { role: number }, bot: { role: number }): void {
  if (bot.role < holder.role) throw outranked();
}

/** A bot is never above its owner, nor is it put above who promotes it. */
export async function requireBotRole(
  work: Work,
  holder: { role: number },
  bot: AccountRow,
  role: number,
): Promise<void> {
  requireRank(holder, bot);
  if (role < holder.role) throw outranked();
  if (bot.bot_owner_id === null) return;
  const owner = await readAccount(work, work.realmId, bot.bot_owner_id);
  if (role < owner.role) throw badRequest("The role of a bot can't be above that of its owner.");
}

/** Lowers the bots of a person, also those that are deactivated, to at most this role. The realm is locked. */
export async function lowerBots(work: Work, ownerId: number, role: number, seal: KeySeal): Promise<void> {
  const bots = await work.any(sql.type(accountRow)`
    SELECT ${accountColumns} FROM users.account
    WHERE realm_id = ${work.realmId} AND bot_owner_id = ${ownerId} AND is_bot AND role < ${role} ORDER BY id FOR NO KEY UPDATE OF account`);
  for (const bot of bots) await setRole(work, bot, role, seal);
}

const everyMs = 10 * 60_000;
const ownerRow = z.object({ realm_id: z.number(), id: z.number(), role: z.number() });

/** Lowers bots that an earlier release let be above their owners: now, and later while its processes still run beside this one. */
export function startBotRanks(
  { database, unitOfWork }: Owner,
  seal: KeySeal,
  onError: (error: unknown) => void,
): () => void {
  const look = async (): Promise<void> => {
    const owners = await database.any(sql.type(ownerRow)`
      SELECT DISTINCT o.realm_id, o.id, o.role FROM users.account b JOIN users.account o ON o.id = b.bot_owner_id
      WHERE b.is_bot AND NOT b.is_system_bot AND b.role < o.role`);
    for (const { realm_id, id } of owners)
      await unitOfWork({ realmId: realm_id, schema: 'users', claim: undefined }, async (work) => {
        await lockRealm(work);
        await lowerBots(work, id, (await readAccount(work, realm_id, id)).role, seal);
      });
  };
  void look().catch(onError);
  const timer = setInterval(() => void look().catch(onError), everyMs);
  return () => clearInterval(timer);
}
