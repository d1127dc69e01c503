import { realmPolicySchema, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import type { UsersConfig } from '../config.ts';
import { readRealm } from './read-realm.ts';

const settingNames = Object.keys(realmPolicySchema.shape.settings.shape) as (keyof z.infer<
  typeof realmPolicySchema
>['settings'])[];

export function realmPolicyHandlers({ database }: Owner, config: UsersConfig): Handlers {
  return [
    handle(userOperations.getRealmPolicy, async ({ meta }) => {
      // The version first: a copy newer than its version is only fetched once more.
      const { version } = await database.one(sql.type(z.object({ version: z.number() }))`
        SELECT version FROM log.versions(${meta.realmId}, ${sql.array(['realm'], 'text')})`);
      const realm = await readRealm(database, meta.realmId);
      const settings = realmPolicySchema.shape.settings.parse(
        Object.fromEntries(settingNames.map((name) => [name, realm.settings[name]])),
      );
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
