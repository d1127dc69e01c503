import { groupPermissions, keysOf, type RealmData, realmPermissions } from '@natter/contracts';
import type { Work } from '@natter/database';
import { isSameSetting, normalized, shownSettings, usersNamed } from '@natter/permissions';
import { emitUpdated } from './group-events.ts';
import { permissionOf, readGroupsNaming } from './group-row.ts';
import { inactiveAmong } from './inactive.ts';
import { permissionMirrorNames, permissionMirrors } from './legacy-mirrors.ts';
import { type Realm, readRealm } from './read-realm.ts';

const realmNames = keysOf(realmPermissions);
const groupNames = keysOf(groupPermissions);

export function emitDict(work: Work, data: RealmData): void {
  work.emit({ type: 'realm', op: 'update_dict', body: { property: 'default', data }, audience: 'realm' });
}

/** The realm as clients are shown it: its permissions without deactivated users. */
export const shownRealm = (realm: Realm, inactive: ReadonlySet<number>): Realm => ({
  ...realm,
  permissions: shownSettings(realm.permissions, inactive),
});

/** Emits the permissions of the realm that differ; both have the shown values. */
export function announcePermissions(work: Work, before: Realm, after: Realm): void {
  const data: RealmData = {};
  for (const name of realmNames)
    if (!isSameSetting(before.permissions[name], after.permissions[name]))
      data[name] = normalized(after.permissions[name]);
  const [old, mirrors] = [permissionMirrors(before), permissionMirrors(after)];
  for (const name of permissionMirrorNames) if (mirrors[name] !== old[name]) data[name] = mirrors[name];
  if (Object.keys(data).length > 0) emitDict(work, data);
}

/**
 * Emits the permissions of the realm and of its groups that name users who were deactivated or reactivated: they are shown
 * without deactivated users. An event for each group.
 */
export async function announcePermissionsNaming(
  work: Work,
  userIds: readonly number[],
  areActive: boolean,
): Promise<void> {
  const changed = new Set(userIds);
  const realm = await readRealm(work, work.realmId);
  const groups = await readGroupsNaming(work, userIds);
  const inactive = await inactiveAmong(
    work,
    work.realmId,
    [realm, ...groups].flatMap(({ permissions }) => Object.values(permissions)),
  );
  const former = new Set(areActive ? [...inactive, ...userIds] : [...inactive].filter((id) => !changed.has(id)));
  announcePermissions(work, shownRealm(realm, former), shownRealm(realm, inactive));
  for (const group of groups) {
    const names = groupNames.filter((name) => usersNamed(permissionOf(group, name)).some((id) => changed.has(id)));
    emitUpdated(work, group, Object.fromEntries(names.map((name) => [name, permissionOf(group, name)])), inactive);
  }
}
