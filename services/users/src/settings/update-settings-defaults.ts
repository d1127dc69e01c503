import {
  realmDefaultNames,
  settingChange,
  settingsOperations,
  type UserSettingName,
  type UserSettingValues,
} from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { lockRealm } from '../model/read-realm.ts';
import { readRealmDefaults } from '../model/stored-settings.ts';

type Given = { [N in UserSettingName]?: UserSettingValues[N] | undefined };

function take<N extends UserSettingName>(to: Given, name: N, value: UserSettingValues[N]): void {
  to[name] = value;
}

/** Changes the initial settings of future users; existing users keep theirs. */
export const updateDefaultsHandlers = (): Handlers => [
  handleWrite(settingsOperations.updateSettingsDefaults, async (context, params) =>
    context.write(async (work) => {
      await lockRealm(work);
      const before = await readRealmDefaults(work, work.realmId);
      const given: Given = params;
      const changed: Given = {};
      for (const name of realmDefaultNames)
        if (given[name] !== undefined && given[name] !== before[name]) take(changed, name, given[name]);
      if (Object.keys(changed).length === 0) return {};
      await work.run(sql.unsafe`
        UPDATE users.realm SET user_defaults = user_defaults || ${JSON.stringify(changed)}::jsonb WHERE id = ${work.realmId}`);
      for (const name of realmDefaultNames) {
        const value = changed[name];
        if (value === undefined) continue;
        const body = settingChange(name, value);
        work.emit({ type: 'realm_user_settings_defaults', op: 'update', body, audience: 'realm' });
      }
      return {};
    }),
  ),
];
