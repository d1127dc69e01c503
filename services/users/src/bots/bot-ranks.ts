import { sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { lowerBots } from '../model/change-role.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { readAccount } from '../model/find-account.ts';
import { lockRealm } from '../model/read-realm.ts';

/**
 * Lowers the role of bots that an earlier release allowed to exceed their owner's: now, and repeatedly while processes
 * of that release may still run.
 */
export function startBotRanks(
  { database, background }: Owner,
  seal: KeySeal,
  onError: (error: unknown) => void,
): () => void {
  const look = async (): Promise<void> => {
    const owners = await database.any(sql.type(ownerRow)`
      SELECT DISTINCT o.realm_id, o.id, o.role FROM users.account b JOIN users.account o ON o.id = b.bot_owner_id
      WHERE b.is_bot AND NOT b.is_system_bot AND b.role < o.role`);
    for (const { realm_id, id } of owners)
      await background(realm_id, async (work) => {
        await lockRealm(work);
        await lowerBots(work, id, (await readAccount(work, realm_id, id)).role, seal);
      });
  };
  void look().catch(onError);
  const timer = setInterval(() => void look().catch(onError), everyMs);
  return () => clearInterval(timer);
}

const everyMs = 10 * 60_000;
const ownerRow = z.object({ realm_id: z.number(), id: z.number(), role: z.number() });
