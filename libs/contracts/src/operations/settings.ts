import { z } from 'zod';
import { string, trimmed } from '../model/bounded.ts';
import { operation, pageSchema } from '../model/operation.ts';
import { text } from '../model/param.ts';
import { realmDefaultParams, userSettingParams } from '../vocabulary/user-setting-params.ts';

export const settingsFetchTypes: readonly string[] = [
  'user_settings',
  'update_display_settings',
  'update_global_notifications',
  'realm_user_settings_defaults',
];

const errors = ['BAD_REQUEST', 'RATE_LIMIT_HIT'] as const;
const events = [
  'user_settings',
  'update_display_settings',
  'update_global_notifications',
  'realm_user',
  'user_status',
  'realm_export_consent',
] as const;
const params = {
  full_name: text(string(1_000).describe('The new display name, at most 100 characters.').optional()),
  email: text(
    trimmed(1_000)
      .describe('The new email address. It is changed when the user opens the link that is mailed to it.')
      .optional(),
  ),
  old_password: text(string(1_000).optional()),
  new_password: text(string(1_000).optional()),
  ...userSettingParams,
};
const result = z.object({
  ignored_parameters_unsupported: z
    .array(z.string())
    .describe('Parameters that the operation does not have, and settings that have the given value already.')
    .optional(),
});
const key = text(string(1_000).describe('The secret part of the link that was mailed.'));

const update = {
  service: 'users',
  caller: 'human',
  weight: 2,
  checksPassword: true,
  params,
  result,
  errors,
  events,
} as const;

export const settingsOperations = {
  updateSettings: operation({
    ...update,
    name: 'update-settings',
    http: { method: 'PATCH', path: '/settings' },
    summary: "Change the caller's own settings.",
  }),
  updateDisplaySettings: operation({
    ...update,
    name: 'update-display-settings',
    http: { method: 'PATCH', path: '/settings/display' },
    summary: 'The same as PATCH /settings (deprecated).',
  }),
  updateNotificationSettings: operation({
    ...update,
    name: 'update-notification-settings',
    http: { method: 'PATCH', path: '/settings/notifications' },
    summary: 'The same as PATCH /settings (deprecated).',
  }),
  runCommand: operation({
    name: 'run-command',
    service: 'users',
    http: { method: 'POST', path: '/zcommand' },
    summary: "A command typed where messages are written: `/ping`, or one that changes the caller's own view.",
    params: { command: text(string(1_000)) },
    result: z.object({ msg: z.string().describe('What the command did, in words; empty for `/ping`.').optional() }),
    errors,
    events,
  }),
  updateSettingsDefaults: operation({
    name: 'update-settings-defaults',
    service: 'users',
    http: { method: 'PATCH', path: '/realm/user_settings_defaults' },
    role: 'administrator',
    weight: 2,
    summary: 'Change what new users start with.',
    params: realmDefaultParams,
    errors: ['BAD_REQUEST'],
    events: ['realm_user_settings_defaults'],
  }),
  confirmEmailPage: operation({
    name: 'confirm-email-page',
    service: 'users',
    page: { method: 'GET', path: '/accounts/confirm_new_email/{key}' },
    caller: 'public',
    summary: 'The page that the mail to a new address opens. It changes nothing.',
    params: { key },
    result: pageSchema,
    isReadOnly: true,
  }),
  confirmEmail: operation({
    name: 'confirm-email',
    service: 'users',
    page: { method: 'POST', path: '/accounts/confirm_new_email/{key}' },
    caller: 'public',
    summary: 'Gives an account the new address that it was mailed to.',
    params: { key },
    result: pageSchema,
    events: ['realm_user', 'invites_changed'],
  }),
  forgottenPage: operation({
    name: 'forgotten-page',
    service: 'users',
    page: { method: 'GET', path: '/accounts/password/reset' },
    caller: 'public',
    summary: 'The page to ask for a new password.',
    result: pageSchema,
    isReadOnly: true,
  }),
  askForPassword: operation({
    name: 'ask-for-password',
    service: 'users',
    page: { method: 'POST', path: '/accounts/password/reset' },
    caller: 'public',
    summary: 'Mails a link to set a new password, to who has an account.',
    weight: 5,
    params: { email: text(trimmed(1_000).describe('The real email address of the account.')) },
    result: pageSchema,
  }),
  newPasswordPage: operation({
    name: 'new-password-page',
    service: 'users',
    page: { method: 'GET', path: '/accounts/password/reset/{key}' },
    caller: 'public',
    summary: 'The page to set a new password.',
    params: { key },
    result: pageSchema,
    isReadOnly: true,
  }),
  setPassword: operation({
    name: 'set-password',
    service: 'users',
    page: { method: 'POST', path: '/accounts/password/reset/{key}' },
    caller: 'public',
    summary: 'Sets the new password.',
    weight: 5,
    params: { key, password: text(string(1_000)) },
    result: pageSchema,
  }),
};
