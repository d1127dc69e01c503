import { appliedNumber, type Executor, eventsAfter, sql } from '@natter/database';
import { z } from 'zod';

/** Whether committed events of groups are not yet applied to the projection. */
export async function isBehind(executor: Executor, realmId: number): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(z.object({ is_behind: z.boolean() }))`
    SELECT EXISTS (
      SELECT FROM ${eventsAfter(realmId, appliedNumber('channels', realmId, 'people'), ['user_group'], 1)} e) AS is_behind`);
  return is_behind;
}
