import {
  idSet,
  languageOf,
  settingChange,
  type UserSettingName,
  type UserSettingValues,
  userSettings,
} from '@natter/contracts';
import type { Work } from '@natter/database';
import type { AccountRow } from './account-row.ts';
import { emitPerson } from './announce-account.ts';

/** Settings that affect sends: the next send must use the new value. */
const decideSends: ReadonlySet<UserSettingName> = new Set([
  'translate_emoticons',
  'automatically_follow_topics_policy',
  'automatically_unmute_topics_in_muted_streams_policy',
  'automatically_follow_topics_where_mentioned',
]);

/** Announces a changed setting to the user and to others as far as they see its effect. */
export function announceSetting<N extends UserSettingName>(
  work: Work,
  row: AccountRow,
  name: N,
  value: UserSettingValues[N],
): void {
  announceOwnSetting(work, row, name, value);
  if (name === 'timezone') emitPerson(work, { user_id: row.id, email: row.api_email, timezone: String(value) });
  if (name === 'presence_enabled')
    work.emit({ type: 'user_status', body: { user_id: row.id, away: value === false }, audience: 'realm' });
}

/** Announces a changed setting to the user, and to older clients in their form. */
export function announceOwnSetting<N extends UserSettingName>(
  work: Work,
  row: AccountRow,
  name: N,
  value: UserSettingValues[N],
): void {
  const audience = { users: idSet([row.id]) };
  const language = languageOf(name, value);
  work.emit({ type: 'user_settings', op: 'update', body: settingChange(name, value), audience });
  if (decideSends.has(name)) work.bump('realm');
  const { legacy } = userSettings[name];
  const forms = [{ capability: 'user_settings_object', is: true, patch: null }];
  if (legacy === 'display')
    work.emit({
      type: 'update_display_settings',
      body: { user: row.api_email, setting_name: name, setting: value, ...language },
      audience,
      forms,
    });
  if (legacy === 'notifications')
    work.emit({
      type: 'update_global_notifications',
      body: { user: row.api_email, notification_name: name, setting: value },
      audience,
      forms,
    });
}
