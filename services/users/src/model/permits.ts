import { type Database, sql } from '@natter/database';
import type { Permits } from '@natter/service-kit';
import { z } from 'zod';
import { mayIn } from './holder.ts';
import { readRealm } from './read-realm.ts';

const versionRow = z.object({ version: z.number() });

/** Version of the realm. Read it before the settings: settings newer than their version are merely read once more. */
export async function realmVersion(database: Database, realmId: number): Promise<number> {
  const { version } = await database.one(sql.type(versionRow)`
    SELECT version FROM log.versions(${realmId}, ${sql.array(['realm'], 'text')})`);
  return version;
}

export const permitsOf =
  (database: Database): Permits =>
  async (actor, permission) => {
    const version = await realmVersion(database, actor.realmId);
    const realm = await readRealm(database, actor.realmId);
    return { isPermitted: mayIn(realm, permission, actor), realmVersion: version };
  };
