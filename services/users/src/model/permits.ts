import { type Executor, readVersion, type Work } from '@natter/database';
import type { Permits } from '@natter/service-kit';
import { mayIn } from './holder.ts';
import { type Realm, readRealm } from './read-realm.ts';

/** Version of the realm. Read it before the settings: settings newer than their version are merely read once more. */
export const realmVersion = (executor: Executor, realmId: number): Promise<number> =>
  readVersion(executor, realmId, 'realm');

export const permitsOf =
  (executor: Executor): Permits =>
  async (actor, permission) => {
    const version = await realmVersion(executor, actor.realmId);
    const realm = await readRealm(executor, actor.realmId);
    return { isPermitted: mayIn(realm, permission, actor), realmVersion: version };
  };

/** The realm for a decision by its rules: the commit fails if they changed meanwhile. */
export async function expectRealm(work: Work): Promise<Realm> {
  work.expectVersions({ realm: await realmVersion(work, work.realmId) });
  return readRealm(work, work.realmId);
}
