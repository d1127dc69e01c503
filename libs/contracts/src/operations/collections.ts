import { z } from 'zod';
import { bigId, id, list, record, string } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, int, json, type Params, text, textOrJson } from '../model/param.ts';

/** The fetch types of data that only one user sees. Clients also use the names of the events. */
export const collectionFetchTypes: readonly string[] = [
  'navigation_views',
  'navigation_view',
  'saved_snippets',
  'onboarding_steps',
  'push_device',
  'device',
];

/** A navigation view; built-in views have no name. */
export const navigationViewSchema = z.object({
  fragment: z.string(),
  is_pinned: bool,
  name: z.string().describe('The name of the view; absent for built-in views.').optional(),
});
export type NavigationView = z.infer<typeof navigationViewSchema>;

/** A text that a user saved for reuse; `date_created` in seconds since the epoch. */
export const savedSnippetSchema = z.object({
  id: int.describe('The ID of the saved snippet.'),
  title: z.string(),
  content: z.string(),
  date_created: int,
});
export type SavedSnippet = z.infer<typeof savedSnippetSchema>;

const errors = ['BAD_REQUEST'] as const;
const fragment = text(string(1_000));
const viewName = text(string(1_000).describe('The name of the view; omit it for built-in views.').optional());
const token = text(string(10_000));
const storageKeys = list(string(1_000), 10_000).describe('The keys. By default all.');
const [entriesPerUnit, charactersPerUnit] = [100, 100_000];
const storageWeight = (values: readonly string[]): number =>
  values.length / entriesPerUnit + values.reduce((total, { length }) => total + length, 0) / charactersPerUnit;
const appToken = { token, appid: text(string(500)) };
/** The operations for a kind of token. Each kind has two paths: with the name of its vendor, and with that of the platform. */
const deviceTokens = <const A extends Params, const P extends string>(path: P, name: string, params: A) => ({
  add: operation({
    name: `add-${name}`,
    service: 'users',
    http: { method: 'POST', path },
    caller: 'human',
    summary: 'Register the token of a device for push notifications.',
    params,
    errors,
  }),
  remove: operation({
    name: `remove-${name}`,
    service: 'users',
    http: { method: 'DELETE', path },
    caller: 'human',
    summary: 'Remove the token of a device.',
    params: { token },
    errors,
  }),
});
const apns = deviceTokens('/users/me/apns_device_token', 'apns-device-token', appToken);
const ios = deviceTokens('/users/me/ios_device_token', 'ios-device-token', appToken);
const gcm = deviceTokens('/users/me/android_gcm_reg_id', 'android-gcm-reg-id', { token });
const android = deviceTokens('/users/me/android_device_token', 'android-device-token', { token });

export const collectionOperations = {
  getNavigationViews: operation({
    name: 'get-navigation-views',
    service: 'users',
    http: { method: 'GET', path: '/navigation_views' },
    summary: "The caller's navigation views, oldest first.",
    result: z.object({ navigation_views: z.array(navigationViewSchema) }),
  }),
  addNavigationView: operation({
    name: 'add-navigation-view',
    service: 'users',
    http: { method: 'POST', path: '/navigation_views' },
    summary: 'Add a navigation view.',
    params: { fragment, is_pinned: json(bool), name: viewName },
    errors,
    events: ['navigation_view'],
  }),
  updateNavigationView: operation({
    name: 'update-navigation-view',
    service: 'users',
    http: { method: 'PATCH', path: '/navigation_views/{fragment}', isOpenEnded: true },
    summary: 'Pin, hide or rename a navigation view.',
    params: { fragment, is_pinned: json(bool.optional()), name: viewName },
    errors,
    events: ['navigation_view'],
  }),
  removeNavigationView: operation({
    name: 'remove-navigation-view',
    service: 'users',
    http: { method: 'DELETE', path: '/navigation_views/{fragment}', isOpenEnded: true },
    summary: 'Remove a navigation view.',
    params: { fragment },
    errors,
    events: ['navigation_view'],
  }),
  getSavedSnippets: operation({
    name: 'get-saved-snippets',
    service: 'users',
    http: { method: 'GET', path: '/saved_snippets' },
    summary: "The caller's saved snippets, oldest first.",
    result: z.object({ saved_snippets: z.array(savedSnippetSchema) }),
  }),
  addSavedSnippet: operation({
    name: 'add-saved-snippet',
    service: 'users',
    http: { method: 'POST', path: '/saved_snippets' },
    summary: 'Save a snippet.',
    params: { title: text(string(1_000)), content: text(string(40_000)) },
    result: z.object({ saved_snippet_id: int }),
    errors,
    events: ['saved_snippets'],
  }),
  updateSavedSnippet: operation({
    name: 'update-saved-snippet',
    service: 'users',
    http: { method: 'PATCH', path: '/saved_snippets/{saved_snippet_id}' },
    summary: 'Change a saved snippet.',
    params: {
      saved_snippet_id: json(id),
      title: text(string(1_000).optional()),
      content: text(string(40_000).optional()),
    },
    errors,
    events: ['saved_snippets'],
  }),
  removeSavedSnippet: operation({
    name: 'remove-saved-snippet',
    service: 'users',
    http: { method: 'DELETE', path: '/saved_snippets/{saved_snippet_id}' },
    summary: 'Remove a saved snippet.',
    params: { saved_snippet_id: json(id) },
    errors,
    events: ['saved_snippets'],
  }),
  markOnboardingStep: operation({
    name: 'mark-onboarding-step',
    service: 'users',
    http: { method: 'POST', path: '/users/me/onboarding_steps' },
    caller: 'human',
    summary: 'The caller has seen a step of the introduction.',
    params: { onboarding_step: text(string(1_000)) },
    errors,
    events: ['onboarding_steps'],
  }),
  setTutorialStatus: operation({
    name: 'set-tutorial-status',
    service: 'users',
    http: { method: 'POST', path: '/users/me/tutorial_status' },
    caller: 'human',
    summary: 'How far the caller is with an introduction that clients of today no longer have (deprecated).',
    params: { status: textOrJson(z.enum(['waiting', 'started', 'finished']).describe('How far the caller is.')) },
    errors,
  }),
  getBotStorage: operation({
    name: 'get-bot-storage',
    service: 'users',
    http: { method: 'GET', path: '/bot_storage' },
    summary: 'What the caller keeps here under these keys, or all of it.',
    weigh: ({ keys }) => (keys ? keys.length / 5 : 20),
    isReadOnly: true,
    params: { keys: json(storageKeys.optional()) },
    result: z.object({ storage: z.record(z.string(), z.string()) }),
    errors,
  }),
  updateBotStorage: operation({
    name: 'update-bot-storage',
    service: 'users',
    http: { method: 'PUT', path: '/bot_storage' },
    summary: 'Keep texts under keys; other keys stay.',
    weigh: ({ storage }) => storageWeight(Object.values(storage)),
    params: { storage: json(record(string(1_000_000), { keys: 10_000, keyCharacters: 1_000 })) },
    errors,
  }),
  deleteBotStorage: operation({
    name: 'delete-bot-storage',
    service: 'users',
    http: { method: 'DELETE', path: '/bot_storage' },
    summary: 'Forget these keys, or all.',
    weigh: ({ keys }) => (keys ? keys.length / 500 : 20),
    params: { keys: json(storageKeys.optional()) },
    errors,
  }),
  addApnsDeviceToken: apns.add,
  removeApnsDeviceToken: apns.remove,
  addIosDeviceToken: ios.add,
  removeIosDeviceToken: ios.remove,
  addAndroidGcmRegId: gcm.add,
  removeAndroidGcmRegId: gcm.remove,
  addAndroidDeviceToken: android.add,
  removeAndroidDeviceToken: android.remove,
  registerPushDevice: operation({
    name: 'register-push-device',
    service: 'users',
    http: { method: 'POST', path: '/mobile_push/register' },
    caller: 'human',
    summary:
      'Register a device for push notifications that only it can read: by an account of its own, or as a client device.',
    params: {
      token_kind: textOrJson(z.enum(['fcm', 'apns']).optional()),
      push_account_id: json(bigId.min(1).optional()),
      push_public_key: text(string(10_000).optional()),
      bouncer_public_key: text(string(10_000).optional()),
      encrypted_push_registration: text(string(10_000).optional()),
      /** If set, the key and the token belong to this client device, and each has an ID. */
      device_id: json(id.optional()),
      push_key_id: json(bigId.min(0).optional()),
      push_key: text(string(10_000).optional()),
      token_id: text(string(200).optional()),
    },
    errors: ['BAD_REQUEST', 'REQUEST_VARIABLE_MISSING'],
    events: ['push_device', 'device'],
  }),
  registerClientDevice: operation({
    name: 'register-client-device',
    service: 'users',
    http: { method: 'POST', path: '/register_client_device' },
    caller: 'human',
    summary: 'Make this installation of a client known.',
    result: z.object({ device_id: int }),
    errors,
    events: ['device'],
  }),
  removeClientDevice: operation({
    name: 'remove-client-device',
    service: 'users',
    http: { method: 'POST', path: '/remove_client_device' },
    caller: 'human',
    summary: 'Forget an installation of a client.',
    params: { device_id: json(id) },
    errors,
    events: ['device'],
  }),
  testPush: operation({
    name: 'test-push',
    service: 'users',
    http: { method: 'POST', path: '/mobile_push/test_notification' },
    caller: 'human',
    summary: "Send a test to the caller's devices. No service for push notifications is built.",
    params: { token: text(string(10_000).optional()) },
    errors: ['BAD_REQUEST', 'INVALID_PUSH_DEVICE_TOKEN'],
  }),
  testEncryptedPush: operation({
    name: 'test-encrypted-push',
    service: 'users',
    http: { method: 'POST', path: '/mobile_push/e2ee/test_notification' },
    caller: 'human',
    summary: "Send an encrypted test to the caller's devices. No service for push notifications is built.",
    params: { push_account_id: json(bigId.optional()) },
    errors: ['BAD_REQUEST', 'INVALID_PUSH_DEVICE_TOKEN'],
  }),
};
