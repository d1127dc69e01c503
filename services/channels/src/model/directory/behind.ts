import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** Whether committed events of groups are not yet applied to the projection. */
export async function isBehind(executor: Executor, realmId: number): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(z.object({ is_behind: z.boolean() }))`
    SELECT EXISTS (SELECT FROM log.position(${realmId}) p, log.read_types(${realmId}, coalesce(
      (SELECT position FROM channels.consumer WHERE realm_id = ${realmId} AND name = 'people'), 0),
      p.number, ARRAY['user_group'], 1)) AS is_behind`);
  return is_behind;
}
