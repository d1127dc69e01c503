import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** Types of the events that the consumer of users and groups handles. */
type FollowedType = 'realm_user' | 'user_group' | 'user_settings' | 'realm_user_settings_defaults';

/** Whether committed events of these types are not yet applied to the projection. */
export async function isBehind(executor: Executor, realmId: number, types: readonly FollowedType[]): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(z.object({ is_behind: z.boolean() }))`
    SELECT EXISTS (SELECT FROM log.position(${realmId}) p, log.read_types(${realmId}, coalesce(
      (SELECT position FROM channels.consumer WHERE realm_id = ${realmId} AND name = 'people'), 0),
      p.number, ${sql.array([...types], 'text')}, 1)) AS is_behind`);
  return is_behind;
}
