import type { z } from 'zod';
import { described, type Param } from '../model/param.ts';
import {
  realmDefaultNames,
  type UserSetting,
  type UserSettingName,
  userSettingNames,
  userSettings,
} from '../model/user-settings.ts';
import { userSettingMeanings } from './user-settings.ts';

/** The values of a setting that clients read. */
export const userSettingValue = (name: UserSettingName): z.ZodType =>
  userSettings[name].param.schema.unwrap().describe(userSettingMeanings[name]);

type SettingParams = { [N in UserSettingName]: (typeof userSettings)[N]['param'] };
const paramOf = (name: UserSettingName): Param => {
  const { param, default: initial }: UserSetting = userSettings[name];
  return described(param, `${userSettingMeanings[name]} Initially \`${JSON.stringify(initial)}\`.`);
};
export const userSettingParams = Object.fromEntries(
  userSettingNames.map((name) => [name, paramOf(name)]),
) as unknown as SettingParams;
export const realmDefaultParams = Object.fromEntries(
  realmDefaultNames.map((name) => [name, paramOf(name)]),
) as unknown as Omit<
  SettingParams,
  'default_language' | 'timezone' | 'enable_login_emails' | 'enable_marketing_emails' | 'allow_private_data_export'
>;
