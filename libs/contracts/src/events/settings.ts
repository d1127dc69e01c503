import { z } from 'zod';
import {
  languageNames,
  type UserSettingName,
  type UserSettingValues,
  userSettingNames,
  userSettings,
} from '../model/user-settings.ts';
import { userSettingValue as settingValue } from '../vocabulary/user-setting-params.ts';
import { type ChangeOf, propertyOf, str, typed } from './shapes.ts';

const more = (name: string) => (name === 'default_language' ? { language_name: str } : {});

type SettingChange = ChangeOf<UserSettingValues, { language_name?: string }>;
// The compiler does not infer that a property and its value form one member of the union.
export function settingChange<N extends UserSettingName>(name: N, value: UserSettingValues[N]): SettingChange;
export function settingChange(property: UserSettingName, value: unknown): object {
  return { property, value, ...languageOf(property, value) };
}
const languages: Readonly<Record<string, string>> = languageNames;
/** An event about the language also contains its name. */
export const languageOf = (name: UserSettingName, value: unknown): { language_name?: string } =>
  name === 'default_language' ? { language_name: languages[String(value)] ?? String(value) } : {};

export const settingChanges = (names: readonly UserSettingName[]) =>
  typed<SettingChange>(
    z.discriminatedUnion(
      'property',
      names.map((name) => propertyOf(name, settingValue(name), more(name))) as unknown as [
        ReturnType<typeof propertyOf>,
        ...ReturnType<typeof propertyOf>[],
      ],
    ),
  );

type LegacyChange<K extends string> = Record<K, UserSettingName> & {
  user: string;
  setting: UserSettingValues[UserSettingName];
  language_name?: string;
};
/** The forms for clients without support for `user_settings`. */
export const legacyChanges = <K extends 'setting_name' | 'notification_name'>(
  legacy: 'display' | 'notifications',
  key: K,
) =>
  typed<LegacyChange<K>>(
    z.union(
      userSettingNames
        .filter((name) => userSettings[name].legacy === legacy)
        .map((name) =>
          z.strictObject({
            user: str.describe('The API email address of the user.'),
            [key]: z.literal(name),
            setting: settingValue(name),
            ...more(name),
          }),
        ),
    ),
  );
