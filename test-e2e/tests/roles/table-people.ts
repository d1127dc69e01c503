import { uploadTo } from '../upload.ts';
import { all, type Cell, here, people, signedIn, type Table } from './cell.ts';

const someone = async ({ realm }: Cell) => ({ user_id: (await realm.person()).user_id });
const name = ({ n }: Cell): string => `Name ${n}`;
const botOfMember = async ({ realm, n }: Cell) => {
  const form = { full_name: `Helper ${n}`, short_name: `helper${n}` };
  return { bot_id: (await realm.member.ok('POST', '/bots', form)).user_id };
};
const group = async ({ realm, n }: Cell) => {
  const form = { name: `group ${n}`, description: '', members: [realm.member.user_id] };
  return { user_group_id: (await realm.member.ok('POST', '/user_groups/create', form)).group_id };
};
const field = async ({ realm, n }: Cell) => {
  await realm.owner.ok('POST', '/realm/profile_fields', { name: `Field ${n}`, field_type: 1, editable_by_user: true });
  const { custom_fields } = await realm.owner.ok('GET', '/realm/profile_fields');
  const order: number[] = custom_fields.map((one: { id: number }) => one.id);
  return { field_id: Math.max(...order), order };
};
const linkifier = async ({ realm, n }: Cell) => {
  const form = { pattern: `T${n}-(?P<id>[0-9]+)`, url_template: 'https://example.com/{id}' };
  const { id } = await realm.owner.ok('POST', '/realm/filters', form);
  const { linkifiers } = await realm.owner.ok('GET', '/realm/linkifiers');
  return { filter_id: id, order: linkifiers.map((one: { id: number }) => one.id) };
};
const playground = async ({ realm, n }: Cell) => ({
  playground_id: (await realm.owner.ok('POST', '/realm/playgrounds', playgroundForm(n))).id,
});
const playgroundForm = (n: number) => ({
  name: `Play ${n}`,
  pygments_language: 'Python',
  url_template: 'https://example.com/{code}',
});
const domain = async ({ realm, n }: Cell) => {
  await realm.owner.ok('POST', '/realm/domains', { domain: `d${n}.example.com`, allow_subdomains: false });
  return { domain: `d${n}.example.com` };
};
const linkOf = async (cell: Cell) => {
  const { invite_link } = await cell.realm.administrator.ok('POST', '/invites/multiuse');
  const { invites } = await cell.realm.administrator.ok('GET', '/invites');
  const invite_id = Math.max(...invites.filter((one: { is_multiuse: boolean }) => one.is_multiuse).map(idOf));
  return { key: invite_link.split('/').at(-2), invite_id };
};
const mailed = async ({ realm, n }: Cell) => {
  await realm.member.ok('POST', '/invites', { invitee_emails: `invited${n}@example.com`, stream_ids: [] });
  const { invites } = await realm.member.ok('GET', '/invites');
  return { invite_id: Math.max(...invites.map(idOf)) };
};
const idOf = (one: { id: number }): number => one.id;
const view = async ({ own, n }: Cell) => {
  await own.ok('POST', '/navigation_views', { fragment: `narrow/${n}`, is_pinned: true, name: `View ${n}` });
  return { fragment: encodeURIComponent(`narrow/${n}`) };
};
const snippet = async ({ own }: Cell) => ({
  saved_snippet_id: (await own.ok('POST', '/saved_snippets', { title: 'Title', content: 'text' })).saved_snippet_id,
});
const apns = ({ n }: Cell) => ({ token: Buffer.from(`token ${n}`).toString('base64'), appid: 'org.natter' });
const tokenAt = (path: string) => async (cell: Cell) => {
  await cell.own.post(path, apns(cell));
  return {};
};
const tokens = (path: string): Table => ({
  [`POST ${path}`]: [people, { form: apns }],
  [`DELETE ${path}`]: ['oamug', { at: tokenAt(path), form: apns, others: 'BAD_REQUEST' }],
});
const ofMember = { at: async ({ realm }: Cell) => ({ who: realm.member.user_id }) };
const joining = ({ n }: Cell) => ({
  email: `joined${n}@example.com`,
  full_name: `Joined ${n}`,
  password: 'a good password',
});

export const peopleTable: Table = {
  'GET /server_settings': [all],
  'POST /fetch_api_key': [
    'oamugbsd',
    {
      form: ({ realm }) => ({ username: realm.member2.email, password: realm.member2.password }),
      x: 'AUTHENTICATION_FAILED',
    },
  ],
  // The realm of the table has no key for tokens.
  'POST /jwt/fetch_api_key': ['', { form: () => ({ token: 'a.b.c' }), isAsked: false }],
  // Login without a password is refused to all callers.
  'POST /dev_fetch_api_key': ['', { form: ({ realm }) => ({ username: realm.member.email }), isAsked: false }],
  'POST /users': [
    'oax',
    { form: (cell) => ({ email: `new${cell.n}@example.com`, password: 'a good password', full_name: name(cell) }) },
  ],
  'GET /users': ['oamugbsx'],
  'GET /users/me': [signedIn],
  'GET /users/{user_id_or_email}': [here, { at: async ({ realm }) => ({ user_id_or_email: realm.member.user_id }) }],
  'PATCH /users/{user_id_or_email}': [
    'oa',
    {
      at: async (cell) => ({ user_id_or_email: (await someone(cell)).user_id }),
      form: (cell) => ({ full_name: name(cell) }),
    },
  ],
  'DELETE /users/{user_id_or_email}': [
    'oa',
    { at: async (cell) => ({ user_id_or_email: (await someone(cell)).user_id }) },
  ],
  'DELETE /users/me': [people, { isLast: true }],
  'POST /users/{user_id}/reactivate': [
    'oa',
    {
      at: async (cell) => {
        const { user_id } = await someone(cell);
        await cell.realm.owner.ok('DELETE', `/users/${user_id}`);
        return { user_id };
      },
    },
  ],
  'GET /users/me/api_keys': [signedIn],
  'DELETE /users/me/api_keys/{key_id}': [
    here,
    {
      isLast: true,
      at: async ({ own }) => ({ key_id: (await own.ok('GET', '/users/me/api_keys')).api_keys[0].id }),
      others: 'BAD_REQUEST',
    },
  ],
  'POST /users/me/api_key/regenerate': [signedIn, { isLast: true }],
  'PATCH /settings': [people, { form: () => ({ enter_sends: true }) }],
  'PATCH /settings/display': [people, { form: () => ({ enter_sends: true }) }],
  'PATCH /settings/notifications': [people, { form: () => ({ enable_sounds: false }) }],
  'POST /zcommand': [signedIn, { form: () => ({ command: '/ping' }) }],
  'PATCH /realm/user_settings_defaults': ['oax', { form: () => ({ enter_sends: true }) }],
  'GET //accounts/login': [all],
  // Only a browser that names this origin, or repeats its token, begins a session; API keys begin and end none.
  'POST //accounts/login': ['', { form: () => ({ username: 'nobody@example.com', password: 'x' }), no: 'CSRF_FAILED' }],
  'POST //accounts/logout': ['', { no: 'UNAUTHORIZED' }],
  'GET //accounts/password/reset': [all],
  'POST //accounts/password/reset': [all, { form: ({ n }) => ({ email: `nobody${n}@example.com` }) }],
  // A link that does not exist is answered equally for all callers.
  'GET //accounts/password/reset/{key}': ['', { at: async () => ({ key: 'x'.repeat(40) }), no: '404', x: '404' }],
  'POST //accounts/password/reset/{key}': [
    '',
    { at: async () => ({ key: 'x'.repeat(40) }), form: () => ({ password: 'a good password' }), no: '404' },
  ],
  'GET //accounts/confirm_new_email/{key}': ['', { at: async () => ({ key: 'x'.repeat(40) }), no: '404' }],
  'POST //accounts/confirm_new_email/{key}': ['', { at: async () => ({ key: 'x'.repeat(40) }), no: '404' }],

  'GET /bots': ['oamux'],
  'POST /bots': ['oamux', { form: ({ n }) => ({ full_name: `Bot ${n}`, short_name: `bot${n}` }) }],
  'PATCH /bots/{bot_id}': ['oau', { at: botOfMember, form: ({ n }) => ({ full_name: `Renamed ${n}` }) }],
  'DELETE /bots/{bot_id}': ['oau', { at: botOfMember }],
  'GET /bots/{bot_id}/api_key': ['oau', { at: botOfMember }],
  'POST /bots/{bot_id}/api_key/regenerate': ['oau', { at: botOfMember }],

  'POST /users/me/status': [signedIn, { form: ({ n }) => ({ status_text: `busy ${n}` }) }],
  'POST /users/{user_id}/status': ['oa', { at: someone, form: () => ({ status_text: 'away' }) }],
  'GET /users/{user_id}/status': [here, { at: someone }],
  'POST /users/me/muted_users/{muted_user_id}': [
    here,
    { at: async (cell) => ({ muted_user_id: (await someone(cell)).user_id }) },
  ],
  'DELETE /users/me/muted_users/{muted_user_id}': [
    here,
    {
      at: async (cell) => {
        const muted_user_id = (await someone(cell)).user_id;
        await cell.own.ok('POST', `/users/me/muted_users/${muted_user_id}`);
        return { muted_user_id };
      },
      others: 'BAD_REQUEST',
    },
  ],
  'GET /users/me/alert_words': [signedIn],
  'POST /users/me/alert_words': [signedIn, { form: () => ({ alert_words: ['natter'] }) }],
  'DELETE /users/me/alert_words': [signedIn, { form: () => ({ alert_words: ['natter'] }) }],
  'POST /users/me/avatar': [signedIn, { file: true }],
  'DELETE /users/me/avatar': [signedIn],
  // An invisible user has an image too, so that the answer does not reveal whether the user exists.
  'GET //avatar/{who}': ['oamugbsx', { ...ofMember, no: 'USER_DEACTIVATED' }],
  'GET //avatar/{who}/medium': ['oamugbsx', { ...ofMember, no: 'USER_DEACTIVATED' }],
  'GET //user_avatars/drawn/{who}': [all, ofMember],
  'GET //user_avatars/drawn/{who}/medium': [all, ofMember],
  'GET //user_avatars/of/{who}': ['', { ...ofMember, no: '404' }],
  'GET //user_avatars/of/{who}/medium': ['', { ...ofMember, no: '404' }],

  'PATCH /realm': ['oax', { form: ({ n }) => ({ description: `Description ${n}` }) }],
  'POST /realm/deactivate': ['ox', { isOwnRealm: true }],
  'GET /realm/domains': [signedIn],
  'POST /realm/domains': ['ox', { form: ({ n }) => ({ domain: `new${n}.example.com`, allow_subdomains: true }) }],
  'PATCH /realm/domains/{domain}': ['o', { at: domain, form: () => ({ allow_subdomains: true }) }],
  'DELETE /realm/domains/{domain}': ['o', { at: domain }],
  'GET /realm/emoji': [signedIn],
  'POST /realm/emoji/{emoji_name}': ['oamubx', { at: async ({ n }) => ({ emoji_name: `emoji${n}` }), file: true }],
  'DELETE /realm/emoji/{emoji_name}': [
    'oa',
    {
      at: async ({ realm, n }) => {
        await uploadTo(realm.owner, `/realm/emoji/gone${n}`);
        return { emoji_name: `gone${n}` };
      },
    },
  ],
  'GET //user_avatars/emoji/{emoji_id}': ['', { at: async () => ({ emoji_id: 999_999 }), no: '404' }],
  'GET //api/v1/realm/icon': [all],
  'GET //api/v1/realm/logo': [all, { form: () => ({ night: true }) }],
  'POST /realm/icon': ['oax', { file: true }],
  'DELETE /realm/icon': ['oax'],
  'POST /realm/logo': ['oax', { file: true, form: () => ({ night: 'false' }) }],
  'DELETE /realm/logo': ['oax', { form: () => ({ night: true }) }],
  'GET //user_avatars/realm/{kind}': ['', { at: async () => ({ kind: 'nothing' }) }],
  'GET /realm/linkifiers': [signedIn],
  'PATCH /realm/linkifiers': ['oa', { at: linkifier, form: (_, { order }) => ({ ordered_linkifier_ids: order }) }],
  'GET /realm/filters': [signedIn],
  'POST /realm/filters': [
    'oax',
    { form: ({ n }) => ({ pattern: `#${n}-(?P<id>[0-9]+)`, url_template: 'https://example.com/{id}' }) },
  ],
  'PATCH /realm/filters/{filter_id}': [
    'oa',
    { at: linkifier, form: ({ n }) => ({ pattern: `P${n}-(?P<id>[0-9]+)`, url_template: 'https://example.com/{id}' }) },
  ],
  'DELETE /realm/filters/{filter_id}': ['oa', { at: linkifier }],
  'POST /realm/playgrounds': ['oax', { form: ({ n }) => playgroundForm(n) }],
  'DELETE /realm/playgrounds/{playground_id}': ['oa', { at: playground }],
  'GET /realm/subdomain/{subdomain}': [all, { at: async ({ n }) => ({ subdomain: `free${n}` }) }],
  'GET /export/realm': ['oax'],
  'POST /export/realm': ['', { form: () => ({ export_type: 1 }) }],
  'DELETE /export/realm/{export_id}': ['', { at: async () => ({ export_id: 1 }) }],
  'GET /export/realm/consents': ['oax'],
  'GET /server/status': ['oax'],
  // This server has no account with call providers.
  'GET /calls/bigbluebutton/create': ['', { form: () => ({ meeting_name: 'Meeting' }) }],
  'POST /calls/zoom/create': [''],
  'POST /realm/test_welcome_bot_custom_message': [
    'oax',
    { form: () => ({ welcome_message_custom_text: 'Find the map in #general.' }) },
  ],
  'GET //static/emoji_data.json': [all],
  'GET //static/natter-{kind}.svg': [all, { at: async () => ({ kind: 'icon' }) }],

  'GET /user_groups': [signedIn],
  'POST /user_groups/create': ['oamubx', { form: ({ n }) => ({ name: `made ${n}`, description: '', members: [] }) }],
  'PATCH /user_groups/{user_group_id}': ['ou', { at: group, form: ({ n }) => ({ name: `renamed ${n}` }) }],
  'POST /user_groups/{user_group_id}/deactivate': ['oau', { at: group }],
  'DELETE /user_groups/{user_group_id}': ['oau', { at: group }],
  'GET /user_groups/{user_group_id}/members': [here, { at: group }],
  'POST /user_groups/{user_group_id}/members': [
    'ou',
    { at: group, form: ({ realm }) => ({ add: [realm.member2.user_id] }) },
  ],
  'GET /user_groups/{user_group_id}/members/{user_id}': [
    here,
    { at: async (cell) => ({ ...(await group(cell)), user_id: cell.realm.member.user_id }) },
  ],
  'GET /user_groups/{user_group_id}/subgroups': [here, { at: group }],
  'POST /user_groups/{user_group_id}/subgroups': [
    'ou',
    {
      at: async (cell) => ({
        ...(await group(cell)),
        other: (await group({ ...cell, n: cell.n + 0.5 })).user_group_id,
      }),
      form: (_, { other }) => ({ add: [other] }),
    },
  ],

  'GET /realm/profile_fields': [signedIn],
  'PATCH /realm/profile_fields': ['oa', { at: field, form: (_, { order }) => ({ order }) }],
  'POST /realm/profile_fields': ['oax', { form: ({ n }) => ({ name: `New ${n}`, field_type: 1 }) }],
  'PATCH /realm/profile_fields/{field_id}': ['oa', { at: field, form: () => ({ hint: 'say it' }) }],
  'DELETE /realm/profile_fields/{field_id}': ['oa', { at: field }],
  'PATCH /users/me/profile_data': [
    'oamug',
    { at: field, form: (_, { field_id }) => ({ data: [{ id: field_id, value: 'value' }] }) },
  ],
  'DELETE /users/me/profile_data': ['oamug', { at: field, form: (_, { field_id }) => ({ data: [field_id] }) }],

  'GET /navigation_views': [signedIn],
  'POST /navigation_views': [
    signedIn,
    { form: ({ n }) => ({ fragment: `narrow/of/${n}`, is_pinned: true, name: `Of ${n}` }) },
  ],
  'PATCH /navigation_views/{fragment}': [here, { at: view, form: () => ({ is_pinned: false }), others: 'BAD_REQUEST' }],
  'DELETE /navigation_views/{fragment}': [here, { at: view, others: 'BAD_REQUEST' }],
  'GET /saved_snippets': [signedIn],
  'POST /saved_snippets': [signedIn, { form: () => ({ title: 'Title', content: 'text' }) }],
  'PATCH /saved_snippets/{saved_snippet_id}': [
    here,
    { at: snippet, form: () => ({ title: 'Other' }), others: 'BAD_REQUEST' },
  ],
  'DELETE /saved_snippets/{saved_snippet_id}': [here, { at: snippet, others: 'BAD_REQUEST' }],
  'GET /bot_storage': [signedIn],
  'PUT /bot_storage': [signedIn, { form: ({ n }) => ({ storage: { [`key ${n}`]: 'value' } }) }],
  'DELETE /bot_storage': [signedIn],
  'POST /users/me/onboarding_steps': [people, { form: () => ({ onboarding_step: 'intro_inbox_view_modal' }) }],
  'POST /users/me/tutorial_status': [people, { form: () => ({ status: 'finished' }) }],
  ...tokens('/users/me/apns_device_token'),
  ...tokens('/users/me/ios_device_token'),
  ...tokens('/users/me/android_gcm_reg_id'),
  ...tokens('/users/me/android_device_token'),
  'POST /mobile_push/register': [
    people,
    {
      form: ({ n }) => ({
        token_kind: 'fcm',
        push_account_id: n,
        push_public_key: 'a2V5',
        bouncer_public_key: 'a2V5',
        encrypted_push_registration: 'c2VjcmV0',
      }),
    },
  ],
  'POST /register_client_device': [people],
  'POST /remove_client_device': [
    'oamug',
    {
      at: async ({ own }) => ({ device_id: (await own.post('/register_client_device')).body.device_id ?? 0 }),
      form: (_, { device_id }) => ({ device_id }),
      others: 'BAD_REQUEST',
    },
  ],
  // This server sends no push notifications, so no test of them succeeds.
  'POST /mobile_push/test_notification': [
    '',
    { form: () => ({ token: 'unknown' }), no: 'INVALID_PUSH_DEVICE_TOKEN BAD_REQUEST' },
  ],
  'POST /mobile_push/e2ee/test_notification': ['', { no: 'BAD_REQUEST' }],

  'POST /invites/multiuse': ['oax'],
  'POST /invites': ['oamux', { form: ({ n }) => ({ invitee_emails: `friend${n}@example.com`, stream_ids: [] }) }],
  'GET /invites': [people],
  'DELETE /invites/{invite_id}': ['oau', { at: mailed }],
  'PATCH /invites/multiuse/{invite_id}': ['oa', { at: linkOf, form: () => ({ invite_as: 600 }) }],
  'DELETE /invites/multiuse/{invite_id}': ['oa', { at: linkOf }],
  'POST /invites/{invite_id}/resend': ['oau', { at: mailed }],
  'POST /join': ['oamugbsd', { at: linkOf, form: (cell, { key }) => ({ key, ...joining(cell) }) }],
  'GET //join/{key}': ['oamugbsd', { at: linkOf, x: '404' }],
  'GET //accounts/do_confirm/{key}': ['', { at: async () => ({ key: 'x'.repeat(40) }), no: '404' }],
  'POST //join/{key}': ['oamugbsd', { at: linkOf, form: joining, x: '404' }],
};
