import { appliedNumber, type Executor, eventsAfter, sql } from '@natter/database';
import { z } from 'zod';

const behindRow = z.object({ is_behind: z.boolean() });

/** Whether committed events of groups are not yet applied to the projection. */
export async function isBehind(executor: Executor, realmId: number): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(behindRow)`
    SELECT EXISTS (
      SELECT FROM ${eventsAfter(realmId, appliedNumber('channels', realmId, 'people'), ['user_group'], { limit: 1 })} e) AS is_behind`);
  return is_behind;
}

/** Whether a committed event that added this user is not yet applied to the projection. */
export async function isAdditionBehind(executor: Executor, realmId: number, userId: number): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(behindRow)`
    SELECT EXISTS (
      SELECT FROM ${eventsAfter(realmId, appliedNumber('channels', realmId, 'people'), ['realm_user'])} e
      WHERE e.event->>'op' = 'add' AND (e.event->'body'->'person'->>'user_id')::int = ${userId}) AS is_behind`);
  return is_behind;
}

/** Whether a committed event that gave one of these bots to another owner is not yet applied to the projection. */
export async function areOwnersBehind(
  executor: Executor,
  realmId: number,
  botIds: readonly number[],
): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(behindRow)`
    SELECT EXISTS (
      SELECT FROM ${eventsAfter(realmId, appliedNumber('channels', realmId, 'people'), ['realm_user'])} e
      WHERE e.event->'body'->'person'->>'bot_owner_id' IS NOT NULL
        AND (e.event->'body'->'person'->>'user_id')::int = ANY(${sql.array([...botIds], 'int4')})) AS is_behind`);
  return is_behind;
}
