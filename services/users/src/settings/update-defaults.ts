import { realmDefaultNames, settingsOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { change } from '../change.ts';
import { holderOf, requireAdministrator } from '../groups/holder.ts';
import { lockRealm } from '../realm/read-realm.ts';
import { readRealmDefaults, type Values } from './stored-settings.ts';

/** What users who join later start with; nobody who is here already changes. */
export const updateDefaultsHandlers = (owner: Owner): Handlers => [
  handle(settingsOperations.updateSettingsDefaults, async (context, params) =>
    change(owner, context, async (work) => {
      requireAdministrator(await holderOf(work, context.actor.userId));
      await lockRealm(work);
      const before = await readRealmDefaults(work, work.realmId);
      const changed: Values = {};
      for (const name of realmDefaultNames) {
        const value = (params as Values)[name];
        if (value !== undefined && value !== before[name]) changed[name] = value;
      }
      if (Object.keys(changed).length === 0) return {};
      await work.run(sql.unsafe`
        UPDATE users.realm SET user_defaults = user_defaults || ${JSON.stringify(changed)}::jsonb WHERE id = ${work.realmId}`);
      for (const [property, value] of Object.entries(changed))
        work.emit({ type: 'realm_user_settings_defaults', op: 'update', body: { property, value }, audience: 'realm' });
      return {};
    }),
  ),
];
