import { sql } from '@natter/database';
import { forEachApart, type Owner, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { lowerBots } from '../model/change-role.ts';
import { readAccount } from '../model/find-account.ts';
import { lockRealm } from '../model/read-realm.ts';

/**
 * Lowers the role of bots that an earlier release allowed to exceed their owner's: now, and repeatedly while processes
 * of that release may still run.
 */
export function startBotRanks(
  { database, background }: Owner,
  onError: (error: unknown, realmId?: number) => void,
): () => Promise<void> {
  return repeat({ everyMs, firstMs: 0, onError }, async (isStopped) => {
    const owners = await database.any(sql.type(ownerRow)`
      SELECT DISTINCT o.realm_id, o.id, o.role FROM users.account b JOIN users.account o ON o.id = b.bot_owner_id
      WHERE b.is_bot AND NOT b.is_system_bot AND b.role < o.role`);
    const apart = { isStopped, onError: (error: unknown, { realm_id }: OwnerRow) => onError(error, realm_id) };
    await forEachApart(owners, apart, ({ realm_id, id }) =>
      background(realm_id, async (work) => {
        await lockRealm(work);
        await lowerBots(work, id, (await readAccount(work, realm_id, id)).role);
      }),
    );
  });
}

const everyMs = 10 * 60_000;
const ownerRow = z.object({ realm_id: z.number(), id: z.number(), role: z.number() });
type OwnerRow = z.infer<typeof ownerRow>;
