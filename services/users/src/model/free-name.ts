import { badRequest } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';

/** Refuses the name of another active account for a bot. The realm is locked. */
export async function requireFreeName(
  work: Work,
  name: string,
  ownId = 0,
  refusal = 'Name is already in use!',
): Promise<void> {
  const same = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account
    WHERE realm_id = ${work.realmId} AND is_active AND NOT is_system_bot AND id <> ${ownId} AND lower(full_name) = lower(${name}) LIMIT 1`);
  if (same) throw badRequest(refusal);
}
