import {
  emojisets,
  notificationSounds,
  type UserSettingValues,
  userSettingDefaults,
  userSettingNames,
  userSettings,
} from '@natter/contracts';
import { publicPart, type SnapshotPart } from '../model/snapshot-part.ts';
import { readRealmDefaults, readSettings } from '../model/stored-settings.ts';

const emojiset_choices = Object.entries(emojisets).map(([key, text]) => ({ key, text }));
const available_notification_sounds = notificationSounds;
const choices = { emojiset_choices, available_notification_sounds };

/** The flat keys for clients that do not support `user_settings`. */
function flat(legacy: 'display' | 'notifications', more: Record<string, unknown>): SnapshotPart {
  const names = userSettingNames.filter((name) => userSettings[name].legacy === legacy);
  const keysOf = (values: UserSettingValues) => ({
    ...Object.fromEntries(names.map((name) => [name, values[name]])),
    ...more,
  });
  return {
    types: [legacy === 'display' ? 'update_display_settings' : 'update_global_notifications'],
    read: async (executor, { viewer, capabilities }) =>
      capabilities.user_settings_object ? {} : keysOf(await readSettings(executor, viewer.userId)),
    spectators: async (_, { capabilities }) => (capabilities.user_settings_object ? {} : keysOf(userSettingDefaults)),
  };
}

export const settingsSnapshots: readonly SnapshotPart[] = [
  {
    types: ['user_settings'],
    read: async (executor, { viewer }) => ({
      user_settings: { ...(await readSettings(executor, viewer.userId)), ...choices },
    }),
    spectators: { user_settings: { ...userSettingDefaults, ...choices } },
  },
  flat('display', { emojiset_choices }),
  flat('notifications', { available_notification_sounds }),
  publicPart(['realm_user_settings_defaults'], async (executor, { realmId }) => ({
    realm_user_settings_defaults: { ...(await readRealmDefaults(executor, realmId)), ...choices },
  })),
];
