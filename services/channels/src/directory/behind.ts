import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

/** What the consumer of people and groups follows. */
export const followedTypes = ['realm_user', 'user_group', 'user_settings', 'realm_user_settings_defaults'] as const;

/** Whether events of these types are committed that the copy does not hold yet. */
export async function isBehind(
  executor: Executor,
  realmId: number,
  types: readonly (typeof followedTypes)[number][],
): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(z.object({ is_behind: z.boolean() }))`
    SELECT EXISTS (SELECT FROM log.position(${realmId}) p, log.read_types(${realmId}, coalesce(
      (SELECT position FROM channels.consumer WHERE realm_id = ${realmId} AND name = 'people'), 0),
      p.number, ${sql.array([...types], 'text')}, 1)) AS is_behind`);
  return is_behind;
}
