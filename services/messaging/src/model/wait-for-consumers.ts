import { type Executor, pause, sql, VersionsChanged } from '@natter/database';
import { z } from 'zod';

const positionRow = z.object({ number: z.number() });
const behindRow = z.object({ is_behind: z.boolean() });
const waitMs = 3_000;

/**
 * Waits until these consumers of this service have applied the events of the given type that the log now contains. If they take long, throws `VersionsChanged`, so that the request decides again until its deadline.
 */
export async function waitForConsumers(
  executor: Executor,
  realmId: number,
  consumers: readonly { name: string; type: string }[],
): Promise<void> {
  const { number } = await executor.one(sql.type(positionRow)`SELECT number FROM log.position(${realmId})`);
  const asked = JSON.stringify(consumers);
  const isBehind = async (): Promise<boolean> => {
    const { is_behind } = await executor.one(sql.type(behindRow)`
      SELECT EXISTS (SELECT FROM jsonb_to_recordset(${asked}) AS k (name text, type text), log.read_types(${realmId}, coalesce(
        (SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = k.name), 0), ${number}, ARRAY[k.type], 1)) AS is_behind`);
    return is_behind;
  };
  for (const end = performance.now() + waitMs; await isBehind(); await pause(4))
    if (performance.now() > end) throw new VersionsChanged('a projection', 'row');
}
