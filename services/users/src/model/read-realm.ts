import {
  defaultRealmUrl,
  type GroupSetting,
  keysOf,
  type RealmPermission,
  type RealmSettingValues,
  realmPermissions,
  realmSettingDefaults,
  recordOf,
  type SystemGroupName,
} from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { noteRealmLock } from './lock-order.ts';

export interface Realm {
  id: number;
  host: string;
  /** Origin of links to the realm. */
  url: string;
  createdAt: Date;
  isDeactivated: boolean;
  settings: RealmSettingValues;
  permissions: Record<RealmPermission, GroupSetting>;
  /** Ids of the system groups by name. */
  systemGroups: Record<SystemGroupName, number>;
}

const realmRow = z.object({
  id: z.number(),
  host: z.string(),
  url: z.string().nullable(),
  name: z.string(),
  description: z.string(),
  created_at: z.date(),
  is_deactivated: z.boolean(),
  settings: z.record(z.string(), z.any()),
  permissions: z.record(z.string(), z.any()),
  system_groups: z.record(z.string(), z.number()),
});

/** The realm; settings that were never changed have their defaults. */
export const readRealm = (executor: Executor, realmId: number): Promise<Realm> =>
  read(executor, realmId, sql.fragment``);

/** Like `readRealm`, and locks the realm until this unit ends. */
export function lockRealm(work: Work): Promise<Realm> {
  noteRealmLock(work);
  return read(work, work.realmId, sql.fragment`FOR NO KEY UPDATE OF r`);
}

/**
 * Like `lockRealm` for a new account, so that it obeys the rules at its commit. Locks the realm in shared mode, so that many
 * accounts can be made at once. Unique names need the stronger lock, which is taken first: units that exchange the shared lock
 * for it would wait for each other.
 */
export async function lockRealmForNewcomer(work: Work): Promise<Realm> {
  if ((await readRealm(work, work.realmId)).settings.require_unique_names) return lockRealm(work);
  noteRealmLock(work);
  const realm = await read(work, work.realmId, sql.fragment`FOR SHARE OF r`);
  // The unit runs again and takes the stronger lock.
  if (realm.settings.require_unique_names)
    throw Object.assign(new Error('unique names are required since the unit began'), { code: '40001' });
  return realm;
}

async function read(executor: Executor, realmId: number, lock: ReturnType<typeof sql.fragment>): Promise<Realm> {
  const row = await executor.one(sql.type(realmRow)`
    SELECT r.id, r.host, r.url, r.name, r.description, r.created_at, r.is_deactivated, r.settings, r.permissions,
      (SELECT jsonb_object_agg(g.name, g.id) FROM users.user_group g WHERE g.realm_id = r.id AND g.is_system) AS system_groups
    FROM users.realm r WHERE r.id = ${realmId} ${lock}`);
  const systemGroups = row.system_groups as Record<SystemGroupName, number>;
  const permissions = recordOf(
    keysOf(realmPermissions),
    (name): GroupSetting => row.permissions[name] ?? systemGroups[realmPermissions[name].default_group_name],
  );
  return {
    id: row.id,
    host: row.host,
    url: row.url ?? defaultRealmUrl(row.host),
    createdAt: row.created_at,
    isDeactivated: row.is_deactivated,
    settings: {
      ...realmSettingDefaults,
      ...row.settings,
      name: row.name,
      description: row.description,
      // A deactivated realm has no spectators.
      ...(row.is_deactivated ? { enable_spectator_access: false } : {}),
    },
    permissions,
    systemGroups,
  };
}
