import { z } from 'zod';
import { id, list, string } from '../model/bounded.ts';
import { operation, pageSchema } from '../model/operation.ts';
import { bool, int, json, text } from '../model/param.ts';
import { pictureBase64 } from './realm/uploaded-picture.ts';

/** Status, mutes and alert words of people. */
export const socialFetchTypes: readonly string[] = ['user_status', 'muted_users', 'alert_words'];

export const userStatusSchema = z.object({
  away: bool.optional(),
  status_text: z.string().optional(),
  emoji_name: z.string().optional(),
  emoji_code: z.string().optional(),
  reaction_type: z.string().optional(),
});
export type UserStatus = z.infer<typeof userStatusSchema>;
export const mutedUserSchema = z.object({
  id: int.describe('The ID of the muted user.'),
  timestamp: int.describe('When the user was muted, in seconds since the epoch.'),
});
export type MutedUser = z.infer<typeof mutedUserSchema>;

const errors = ['BAD_REQUEST'] as const;
const optional = text(string(1_000).optional());
const status = { status_text: optional, emoji_name: optional, emoji_code: optional, reaction_type: optional };
const words = list(string(300), 1_100);
const wordsResult = z.object({ alert_words: z.array(z.string()) });
const alertWords = { service: 'users', result: wordsResult, errors, events: ['alert_words'] } as const;
const muted = {
  service: 'users',
  params: { muted_user_id: json(id) },
  errors,
  events: ['muted_users'],
} as const;

const avatarResult = z.object({ avatar_url: z.string() });
const picture = <const N extends string, const P extends string>(
  name: N,
  path: P,
  summary: string,
  caller: 'public' | 'spectator' = 'public',
) =>
  operation({
    name,
    service: 'users',
    page: { method: 'GET', path, ...(caller === 'spectator' ? { isRedirect: true } : {}) },
    caller,
    summary,
    params: { who: text(string(1_000)) },
    result: pageSchema,
    isReadOnly: true,
  });

export const socialOperations = {
  updateOwnStatus: operation({
    name: 'update-own-status',
    service: 'users',
    http: { method: 'POST', path: '/users/me/status' },
    summary: "Change the caller's status.",
    params: { ...status, away: json(bool.optional()) },
    errors,
    events: ['user_status', 'user_settings', 'update_global_notifications'],
  }),
  updateStatus: operation({
    name: 'update-status',
    service: 'users',
    http: { method: 'POST', path: '/users/{user_id}/status' },
    role: 'administrator',
    summary: "Change somebody's status.",
    params: { user_id: json(id), ...status },
    errors,
    events: ['user_status', 'user_settings', 'update_global_notifications'],
  }),
  getStatus: operation({
    name: 'get-status',
    service: 'users',
    http: { method: 'GET', path: '/users/{user_id}/status' },
    summary: "A user's status.",
    params: { user_id: json(id) },
    result: z.object({ status: userStatusSchema.describe('The status; fields that are not set are absent.') }),
    errors,
  }),
  muteUser: operation({
    name: 'mute-user',
    http: { method: 'POST', path: '/users/me/muted_users/{muted_user_id}' },
    summary: 'Mute a user.',
    ...muted,
  }),
  unmuteUser: operation({
    name: 'unmute-user',
    http: { method: 'DELETE', path: '/users/me/muted_users/{muted_user_id}' },
    summary: 'Unmute a user.',
    ...muted,
  }),
  getAlertWords: operation({
    name: 'get-alert-words',
    http: { method: 'GET', path: '/users/me/alert_words' },
    summary: "The caller's alert words.",
    ...alertWords,
    events: [],
  }),
  addAlertWords: operation({
    name: 'add-alert-words',
    http: { method: 'POST', path: '/users/me/alert_words' },
    summary: 'Add alert words.',
    weight: 2,
    params: { alert_words: json(words.default([])) },
    ...alertWords,
  }),
  removeAlertWords: operation({
    name: 'remove-alert-words',
    http: { method: 'DELETE', path: '/users/me/alert_words' },
    weight: 2,
    summary: 'Remove alert words.',
    params: { alert_words: json(words) },
    ...alertWords,
  }),
  setAvatar: operation({
    name: 'set-avatar',
    service: 'users',
    http: { method: 'POST', path: '/users/me/avatar' },
    summary: "Upload the caller's picture.",
    weight: 5,
    params: { file: text(pictureBase64.describe('The picture.').optional()) },
    result: avatarResult,
    errors: ['BAD_REQUEST', 'BAD_IMAGE'],
    events: ['realm_user', 'realm_bot'],
  }),
  removeAvatar: operation({
    name: 'remove-avatar',
    service: 'users',
    http: { method: 'DELETE', path: '/users/me/avatar' },
    summary: "Remove the caller's picture.",
    result: avatarResult,
    errors,
    events: ['realm_user', 'realm_bot'],
  }),
  avatar: picture('avatar', '/avatar/{who}', 'Leads to the picture of a user, by ID or address.', 'spectator'),
  mediumAvatar: picture('medium-avatar', '/avatar/{who}/medium', 'The same, larger.', 'spectator'),
  drawnAvatar: picture('drawn-avatar', '/user_avatars/drawn/{who}', 'What stands for a user without a picture.'),
  mediumDrawnAvatar: picture('medium-drawn-avatar', '/user_avatars/drawn/{who}/medium', 'The same, larger.'),
  uploadedAvatar: picture('uploaded-avatar', '/user_avatars/of/{who}', 'An uploaded picture, by what nobody guesses.'),
  mediumUploadedAvatar: picture('medium-uploaded-avatar', '/user_avatars/of/{who}/medium', 'The same, larger.'),
};
