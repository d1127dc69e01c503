import { type Executor, pause, sql, VersionsChanged } from '@natter/database';
import { z } from 'zod';

const versionRow = z.object({ key: z.string(), version: z.number() });
const positionRow = z.object({ number: z.number() });
const behindRow = z.object({ is_behind: z.boolean() });
const waitMs = 3_000;
/** The consumers that maintain this service's projections of groups and roles, and their event types. */
const consumers = JSON.stringify([
  { name: 'sending-copies', type: 'user_group' },
  { name: 'people', type: 'realm_user' },
  { name: 'notices', type: 'realm_user' },
]);

/**
 * The expected versions of decisions that use this service's projections of groups and roles, read before the
 * projections are brought up to date. `userIds`: users whose own rights are used, besides the actor.
 */
export async function groupVersions(
  executor: Executor,
  realmId: number,
  userIds: readonly number[] = [],
): Promise<Record<string, number>> {
  const keys = ['groups', 'group-contents', ...userIds.map((id) => `actor:${id}`)];
  const versions = await executor.any(
    sql.type(versionRow)`SELECT key, version FROM log.versions(${realmId}, ${sql.array(keys, 'text')})`,
  );
  const { number } = await executor.one(sql.type(positionRow)`SELECT number FROM log.position(${realmId})`);
  for (const end = performance.now() + waitMs; await isBehind(executor, realmId, number); await pause(4))
    if (performance.now() > end) throw new VersionsChanged('groups', 'row');
  return Object.fromEntries(versions.map(({ key, version }) => [key, version]));
}

async function isBehind(executor: Executor, realmId: number, number: number): Promise<boolean> {
  const { is_behind } = await executor.one(sql.type(behindRow)`
    SELECT EXISTS (SELECT FROM jsonb_to_recordset(${consumers}) AS k (name text, type text), log.read_types(${realmId}, coalesce(
      (SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = k.name), 0), ${number}, ARRAY[k.type], 1)) AS is_behind`);
  return is_behind;
}
