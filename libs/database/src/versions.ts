import { z } from 'zod';
import { type Executor, sql } from './database.ts';

const versionRow = z.object({ key: z.string(), version: z.number() });

/**
 * The current versions of these keys of a realm. Read them before the data that they describe: data newer than its version is
 * merely read once more.
 */
export async function readVersions(
  executor: Executor,
  realmId: number,
  keys: readonly string[],
): Promise<Record<string, number>> {
  const rows = await executor.any(select(realmId, keys));
  return Object.fromEntries(rows.map(({ key, version }) => [key, version]));
}

/** The same for one key. */
export const readVersion = async (executor: Executor, realmId: number, key: string): Promise<number> =>
  (await executor.one(select(realmId, [key]))).version;

const select = (realmId: number, keys: readonly string[]) =>
  sql.type(versionRow)`SELECT key, version FROM log.versions(${realmId}, ${sql.array(keys, 'text')})`;
