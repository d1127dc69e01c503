import { idSet, type UserSettingName, userSettings } from '@natter/contracts';
import type { Work } from '@natter/database';
import type { AccountRow } from '../accounts/account-row.ts';
import { emitPerson } from '../accounts/announce-account.ts';
import { languageName } from './stored-settings.ts';

/** What a send of theirs depends on: one that comes next is decided with the new value. */
const decideSends: ReadonlySet<UserSettingName> = new Set([
  'translate_emoticons',
  'automatically_follow_topics_policy',
  'automatically_unmute_topics_in_muted_streams_policy',
  'automatically_follow_topics_where_mentioned',
]);

/** One setting changed: told to the person, to their clients of old in their form, and to others what they see of it. */
export function announceSetting(work: Work, row: AccountRow, name: UserSettingName, value: unknown): void {
  const audience = { users: idSet([row.id]) };
  const language = name === 'default_language' ? { language_name: languageName(String(value)) } : {};
  work.emit({ type: 'user_settings', op: 'update', body: { property: name, value, ...language }, audience });
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
  if (name === 'timezone') emitPerson(work, { user_id: row.id, email: row.api_email, timezone: value });
  if (name === 'presence_enabled')
    work.emit({ type: 'user_status', body: { user_id: row.id, away: value === false }, audience: 'realm' });
}
