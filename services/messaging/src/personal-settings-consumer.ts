import { idsOf, type User } from '@natter/contracts';
import type { Owner } from '@natter/service-kit';
import { dropDrafts } from './drafts/drafts.ts';
import { isKeptSetting, storeSetting } from './personal-settings.ts';

/** Keeps the copy of settings, and drops drafts whose owner turned their synchronisation off. */
export function personalSettingsConsumer(owner: Owner): void {
  owner.consume({
    name: 'personal-settings',
    types: ['user_settings', 'realm_user'],
    handle: async (work, { event }) => {
      if (event.type === 'realm_user') {
        if (event.op !== 'add') return;
        const person = event.body.person as Pick<User, 'user_id'>;
        for (const [name, value] of Object.entries(settingsNoted(event.note)))
          if (isKeptSetting(name)) await storeSetting(work, person.user_id, name, value);
        return;
      }
      const { property, value } = event.body;
      if (event.op !== 'update' || event.audience === 'realm' || !isKeptSetting(property)) return;
      for (const userId of idsOf(event.audience.users)) {
        // Dropping comes first: whoever stores a draft meanwhile waits for it, and then reads the setting.
        if (property === 'enable_drafts_synchronization' && value === false) await dropDrafts(work, userId);
        await storeSetting(work, userId, property, value);
      }
    },
  });
}

/** Settings of a new user that the realm's defaults gave. */
const settingsNoted = (note: Record<string, unknown> | undefined): Record<string, unknown> =>
  typeof note?.settings === 'object' && note.settings !== null ? (note.settings as Record<string, unknown>) : {};
