/**
 * Parameters that only make sense together, for operations that would hardly ever succeed if each were chosen alone.
 */
import type { Making } from './samples.ts';

type Fields = Record<string, unknown>;
type Recipe = (making: Making) => Fields;

const pick = ({ dictionary, random }: Making, kind: string): string | number | undefined =>
  dictionary.pick(kind, random);

const destination: Recipe = (making) => {
  const { random } = making;
  if (random.chance(0.4)) return { type: random.pick(['direct', 'private']), to: [pick(making, 'user') ?? 1] };
  return {
    type: random.pick(['channel', 'stream']),
    to: random.chance(0.7) ? pick(making, 'open-channel') : pick(making, 'channel'),
    topic: String(pick(making, 'topic') ?? 'lunch'),
  };
};

const future = (): number => Math.floor(Date.now() / 1000) + 3_600;

const profileValue: Recipe = (making) => ({
  id: pick(making, 'field_id') ?? 1,
  value: making.random.pick<unknown>([
    'text',
    '',
    '2020-02-02',
    'https://example.org',
    '0',
    [pick(making, 'user') ?? 1],
    null,
  ]),
});

const fieldData = (type: number): unknown => {
  if (type === 3) return { '0': { text: 'A', order: '1' }, '1': { text: 'B', order: '2' } };
  if (type === 7) return { subtype: 'github' };
  return undefined;
};

const draft: Recipe = (making) => ({
  type: 'stream',
  to: [pick(making, 'open-channel') ?? 1],
  topic: 'lunch',
  content: 'draft',
  timestamp: 1_700_000_000,
});

/** The path segments of a known file, under the operation's parameter names. */
const fileParts =
  (kind: string, ...names: string[]): Recipe =>
  (making) => {
    const path = pick(making, kind);
    if (path === undefined) return {};
    const parts = String(path).split('/').map(decodeURIComponent);
    const [last = '', ...first] = [...names].reverse();
    const heads = first.reverse().map((name, index) => [name, parts[index] ?? 'x'] as const);
    return Object.fromEntries([...heads, [last, parts.slice(heads.length).join('/')]]);
  };

const byPassword: Recipe = (making) => ({
  username: String(pick(making, making.random.chance(0.6) ? 'login' : 'email') ?? 'x@y.z'),
  password: 'correct horse fuzz',
});

export const recipes: Record<string, Recipe> = {
  'create-resumable-upload': ({ random }) => ({ upload_length: random.pick([1, 5, 1_000, 81_920]) }),
  'append-resumable-upload': (making) => ({ upload_id: pick(making, 'upload_id'), upload_offset: 0 }),
  'send-message': destination,
  'create-scheduled-message': (making) => {
    const { type, to, topic } = destination(making);
    return { type, to, ...(topic === undefined ? {} : { topic }), scheduled_delivery_timestamp: future() };
  },
  'set-typing': (making) => {
    if (making.random.chance(0.5)) return { type: 'direct', to: [pick(making, 'user') ?? 1] };
    return { type: 'stream', stream_id: pick(making, 'open-channel'), topic: 'lunch' };
  },
  subscribe: (making) => ({
    subscriptions: [
      { name: making.random.chance(0.5) ? pick(making, 'channel-name') : `c${making.random.below(200)}` },
    ],
  }),
  unsubscribe: (making) => ({ subscriptions: [pick(making, 'channel-name') ?? 'general'] }),
  'change-subscriptions': (making) => ({
    add: [{ name: pick(making, 'channel-name') ?? 'general' }],
    delete: [],
  }),
  'create-channel': (making) => ({ name: `made${making.random.below(1e6)}`, subscribers: [pick(making, 'user') ?? 1] }),
  'update-subscription': ({ random }) =>
    random.chance(0.3) ? { property: 'color', value: '#76ce90' } : { property: 'is_muted', value: random.chance(0.5) },
  'update-subscriptions': (making) => ({
    subscription_data: [{ stream_id: pick(making, 'open-channel') ?? 1, property: 'pin_to_top', value: true }],
  }),
  'update-message': (making) => {
    const { random } = making;
    if (random.chance(0.5)) return { content: 'edited **text**' };
    if (random.chance(0.7))
      return {
        topic: String(pick(making, 'topic') ?? 'x'),
        propagate_mode: random.pick(['change_one', 'change_later', 'change_all']),
      };
    return { stream_id: pick(making, 'channel'), propagate_mode: 'change_all' };
  },
  'create-profile-field': ({ random }) => {
    const field_type = 1 + random.below(8);
    return { name: `field${random.below(1e6)}`, field_type, field_data: fieldData(field_type) };
  },
  'update-own-profile-data': (making) => ({ data: [profileValue(making)] }),
  'create-drafts': (making) => ({ drafts: [draft(making)] }),
  'edit-draft': (making) => ({ draft: draft(making) }),
  'add-linkifier': ({ random }) => ({
    pattern: `X${random.below(1e6)}-(?P<id>[0-9]+)`,
    url_template: 'https://t.example/{id}',
  }),
  'update-linkifier': ({ random }) => ({
    pattern: `Y${random.below(1e6)}-(?P<id>[0-9]+)`,
    url_template: 'https://t.example/{id}',
  }),
  'add-playground': ({ random }) => ({
    name: `play${random.below(1e6)}`,
    pygments_language: 'python',
    url_template: 'https://run.example/?code={code}',
  }),
  'add-reaction': ({ random }) => {
    const [emoji_name, emoji_code] = random.pick([
      ['smile', '1f642'],
      ['wave', '1f44b'],
      ['+1', '1f44d'],
      ['heart', '2764'],
    ] as const);
    return random.chance(0.5) ? { emoji_name } : { emoji_name, emoji_code, reaction_type: 'unicode_emoji' };
  },
  'create-user-group': (making) => ({
    name: `group${making.random.below(1e6)}`,
    description: 'd',
    members: [pick(making, 'user') ?? 1],
  }),
  'send-invites': ({ random }) => ({
    invitee_emails: `invited${random.below(1e6)}@fuzz.example`,
    stream_ids: [],
    invite_as: random.pick([400, 600]),
  }),
  'create-invite-link': ({ random }) => ({ invite_as: random.pick([400, 600]), group_ids: [] }),
  join: (making) => ({
    key: String(pick(making, 'key') ?? 'x'),
    email: `joined${making.random.below(1e9)}@fuzz.example`,
    full_name: `Joined ${making.random.below(1e6)}`,
    password: 'correct horse fuzz',
  }),
  'fetch-api-key': byPassword,
  login: byPassword,
  'fetch-api-key-by-jwt': (making) => ({ token: String(pick(making, 'token') ?? 'x') }),
  'get-messages': (making) => {
    const { random } = making;
    if (random.chance(0.15)) return { message_ids: [pick(making, 'message') ?? 1] };
    return {
      anchor: random.pick<unknown>(['newest', 'oldest', 'first_unread', pick(making, 'message') ?? 1]),
      num_before: random.below(30),
      num_after: random.below(30),
    };
  },
  'get-events': (making) => ({ queue_id: String(pick(making, 'queue_id') ?? 'x'), dont_block: true }),
  'add-submessage': (making) => ({
    message_id: pick(making, 'widget') ?? pick(making, 'message') ?? 1,
    msg_type: 'widget',
    content: '{"type":"vote","key":"canned,0","vote":1}',
  }),
  'create-export': () => ({ export_type: 1 }),
  'create-default-group': (making) => ({
    group_name: `defaults${making.random.below(1e6)}`,
    description: 'd',
    stream_names: [pick(making, 'channel-name') ?? 'general'],
  }),
  'change-default-group': (making) => ({
    op: making.random.pick(['add', 'remove']),
    stream_names: [pick(making, 'channel-name') ?? 'general'],
  }),
  'create-reminder': (making) => ({ message_id: pick(making, 'message') ?? 1, scheduled_delivery_timestamp: future() }),
  'update-user': (making) =>
    making.random.chance(0.9)
      ? { full_name: `Renamed ${making.random.below(1e6)}` }
      : { role: making.random.pick([300, 400, 600]) },
  'update-muted-topic': (making) => ({
    stream_id: pick(making, 'open-channel'),
    topic: 'lunch',
    op: making.random.pick(['add', 'remove']),
  }),
  'get-file': fileParts('upload', 'realm_id', 'folder', 'token', 'name'),
  'get-file-url': fileParts('upload', 'realm_id_str', 'filename'),
  'get-file-url-by-path': fileParts('upload', 'realm_id_str', 'folder', 'token', 'filename'),
  'get-temporary-file': fileParts('temporary', 'access', 'name'),
  'ask-for-password': (making) => ({ email: String(pick(making, 'login') ?? 'x@y.z') }),
  'new-password-page': (making) => ({ key: String(pick(making, 'password-key') ?? 'x') }),
  'set-password': (making) => ({ key: String(pick(making, 'password-key') ?? 'x'), password: 'correct horse fuzz' }),
  'confirm-email-page': (making) => ({ key: String(pick(making, 'email-key') ?? 'x') }),
  'confirm-email': (making) => ({ key: String(pick(making, 'email-key') ?? 'x') }),
  'reactivate-user': (making) => ({ user_id: pick(making, 'gone-user') ?? pick(making, 'user') ?? 1 }),
};
