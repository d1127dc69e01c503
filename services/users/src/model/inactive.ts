import type { GroupSetting } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { usersNamed } from '@natter/permissions';
import { z } from 'zod';

/** The deactivated users whom values name directly. */
export async function inactiveAmong(
  executor: Executor,
  realmId: number,
  values: readonly GroupSetting[],
): Promise<ReadonlySet<number>> {
  const named = new Set(values.flatMap(usersNamed));
  if (named.size === 0) return named;
  const rows = await executor.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${realmId} AND NOT is_active AND id = ANY(${sql.array([...named], 'int4')})`);
  return new Set(rows.map(({ id }) => id));
}
