import { emojisets, notificationSounds, userSettingDefaults, userSettingNames, userSettings } from '@natter/contracts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { readRealmDefaults, readSettings } from '../model/stored-settings.ts';

const emojiset_choices = Object.entries(emojisets).map(([key, text]) => ({ key, text }));
const available_notification_sounds = notificationSounds;

const own = async (executor: Parameters<SnapshotPart['read']>[0], userId: number | undefined) =>
  userId === undefined ? userSettingDefaults : readSettings(executor, userId);

/** The flat keys for clients that do not support `user_settings`. */
const flat = (legacy: 'display' | 'notifications', more: Record<string, unknown>): SnapshotPart => ({
  types: [legacy === 'display' ? 'update_display_settings' : 'update_global_notifications'],
  read: async (executor, { userId, capabilities }) => {
    if (capabilities.user_settings_object) return {};
    const values = await own(executor, userId);
    const names = userSettingNames.filter((name) => userSettings[name].legacy === legacy);
    return { ...Object.fromEntries(names.map((name) => [name, values[name]])), ...more };
  },
});

export const settingsSnapshots: readonly SnapshotPart[] = [
  {
    types: ['user_settings'],
    read: async (executor, { userId }) => ({
      user_settings: { ...(await own(executor, userId)), emojiset_choices, available_notification_sounds },
    }),
  },
  flat('display', { emojiset_choices }),
  flat('notifications', { available_notification_sounds }),
  {
    types: ['realm_user_settings_defaults'],
    read: async (executor, { realmId }) => ({
      realm_user_settings_defaults: {
        ...(await readRealmDefaults(executor, realmId)),
        emojiset_choices,
        available_notification_sounds,
      },
    }),
  },
];
