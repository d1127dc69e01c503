import { keysOf, partOf, realmPolicySchema, userOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import type { UsersConfig } from '../model/config.ts';
import { realmVersion } from '../model/permits.ts';
import { readRealm } from '../model/read-realm.ts';

const settingNames = keysOf(realmPolicySchema.shape.settings.shape);

export function realmPolicyHandlers({ database }: Owner, config: UsersConfig): Handlers {
  return [
    handle(userOperations.getRealmPolicy, async ({ meta }) => {
      const version = await realmVersion(database, meta.realmId);
      const realm = await readRealm(database, meta.realmId);
      const settings = realmPolicySchema.shape.settings.parse(partOf(realm.settings, settingNames));
      settings.enable_spectator_access &&= config.WEB_PUBLIC_STREAMS_ENABLED;
      return {
        version,
        system_groups: realm.systemGroups,
        permissions: realm.permissions,
        name: realm.settings.name,
        host: realm.host,
        url: realm.url,
        settings,
      };
    }),
  ];
}
