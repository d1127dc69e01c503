import { idsOf } from '@natter/contracts';
import type { Owner } from '@natter/service-kit';
import { dropDrafts } from './draft-row.ts';
import { isKeptSetting, storeSetting } from './personal-settings.ts';

/** Maintains the projection of settings, and deletes drafts whose owner disabled their synchronization. */
export function personalSettingsConsumer(owner: Owner): void {
  owner.consume({
    name: 'personal-settings',
    on: {
      // A new user starts with the realm's default settings.
      'realm_user/add': async (work, { body: { person }, note }) => {
        for (const [name, value] of Object.entries(note?.settings ?? {}))
          if (isKeptSetting(name)) await storeSetting(work, person.user_id, name, value);
      },
      'user_settings/update': async (work, { body: { property, value }, audience }) => {
        if (!isKeptSetting(property)) return;
        for (const userId of idsOf(audience.users)) {
          // Drafts are deleted first: a request that stores a draft meanwhile waits for the lock, and then reads the
          // new setting.
          if (property === 'enable_drafts_synchronization' && value === false) await dropDrafts(work, userId);
          await storeSetting(work, userId, property, value);
        }
      },
    },
  });
}
