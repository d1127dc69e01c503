/** Ordinary values by the name of a parameter or field, where the type alone is not enough. */

import type { Random } from '../../random.ts';
import type { Dictionary } from './dictionary.ts';

export interface Making {
  random: Random;
  dictionary: Dictionary;
}

const words = ['lunch', 'release', 'Straße', '会議', 'plan b', 'naïve', 'Ωmega', 'q3', 'general', 'x'];
const markup = [
  'Hello **world**, see `code` and https://example.org/a?b=c',
  '@**all** please read',
  '@_**Max Member** said:\n```quote\nhello\n```',
  '#**general>lunch** and #**general**',
  ':smile: :wave: :not_an_emoji:',
  '* one\n* two\n  * three\n\n1. a\n2. b',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '```python\ndef f(x):\n    return x\n```',
  '$$x^2 + \\frac{1}{2}$$',
  '/poll Lunch?\nyes\nno',
  '/todo List\na: b',
  '/me waves',
  '<time:2026-01-01T10:00:00Z>',
  '```spoiler Title\nhidden\n```',
  '> quote\n\n# heading\n~~gone~~',
  '#123 and TICKET-42',
  '![](https://example.org/p.png)',
];
const operands: Record<string, readonly unknown[]> = {
  is: ['dm', 'starred', 'unread', 'mentioned', 'alerted', 'resolved', 'followed', 'muted', 'private'],
  has: ['link', 'image', 'attachment', 'reaction'],
  in: ['home', 'all'],
  channels: ['public', 'web-public'],
  search: ['hello', 'lunch release', '"hello world"', 'a-b & c | !d', 'ß'],
};
const emoji: readonly [string, string][] = [
  ['smile', '1f642'],
  ['wave', '1f44b'],
  ['+1', '1f44d'],
  ['heart', '2764'],
  ['octopus', '1f419'],
];
const eventTypes = [
  'message',
  'update_message',
  'delete_message',
  'reaction',
  'subscription',
  'stream',
  'realm_user',
  'realm',
  'user_group',
  'presence',
  'typing',
  'update_message_flags',
  'drafts',
  'scheduled_messages',
  'user_settings',
  'realm_emoji',
  'attachment',
  'realm_linkifiers',
  'user_topic',
  'alert_words',
  'muted_users',
  'saved_snippets',
  'invites_changed',
  'custom_profile_fields',
];

export function narrowOf({ random, dictionary }: Making): unknown {
  const terms = Array.from({ length: random.below(4) }, () => {
    const operator = random.pick([
      'channel',
      'topic',
      'sender',
      'dm',
      'dm-including',
      'is',
      'has',
      'in',
      'near',
      'id',
      'with',
      'search',
      'mentions',
      'channels',
      'stream',
      'pm-with',
    ]);
    const from = (kind: string, other: unknown): unknown => dictionary.pick(kind, random) ?? other;
    const operand =
      operands[operator] !== undefined
        ? random.pick(operands[operator])
        : operator === 'channel' || operator === 'stream'
          ? from(random.chance(0.5) ? 'channel' : 'channel-name', 'general')
          : operator === 'topic'
            ? from('topic', 'lunch')
            : operator === 'sender' || operator === 'mentions'
              ? from(random.chance(0.5) ? 'user' : 'email', 1)
              : operator === 'near' || operator === 'id' || operator === 'with'
                ? from('message', 1)
                : [from('user', 1)];
    if (random.chance(0.2)) return [operator, operand];
    return { operator, operand, ...(random.chance(0.2) ? { negated: true } : {}) };
  });
  return terms;
}

/** Undefined for an unknown name. */
export function sampleText(name: string, { random, dictionary }: Making): string | undefined {
  const make = texts[name];
  return make?.({ random, dictionary });
}

type Maker = (making: Making) => string | undefined;
const word: Maker = ({ random }) => `${random.pick(words)}${random.chance(0.5) ? random.below(1_000) : ''}`;
const known =
  (kind: string, other: Maker = word): Maker =>
  (making) => {
    const found = making.dictionary.pick(kind, making.random);
    return found === undefined || making.random.chance(0.1) ? other(making) : String(found);
  };
const oneOf =
  (...values: string[]): Maker =>
  ({ random }) =>
    random.pick(values);
const address: Maker = ({ random }) => `person${random.below(1e9)}@fuzz.example`;
const userOrEmail: Maker = (making) =>
  making.random.chance(0.5) ? known('user', oneOf('1'))(making) : known('email', address)(making);
const content: Maker = ({ random, dictionary }) => {
  const path = random.chance(0.1) ? dictionary.pick('path', random) : undefined;
  return path === undefined ? random.pick(markup) : `[file](${path})`;
};

const texts: Record<string, Maker> = {
  content,
  raw_content: content,
  welcome_message_custom_text: content,
  note: word,
  topic: known('topic'),
  subject: known('topic'),
  topic_name: known('topic'),
  stream: known('channel-name'),
  stream_names: known('channel-name'),
  new_name: word,
  name: word,
  full_name: ({ random }) => `Person ${random.below(1e9)}`,
  short_name: ({ random }) => `bot${random.below(1e9)}`,
  email: address,
  new_email: address,
  invitee_emails: address,
  username: known('email', address),
  user_id_or_email: userOrEmail,
  who: userOrEmail,
  old_password: () => 'correct horse fuzz',
  password: ({ random }) => (random.chance(0.5) ? 'correct horse fuzz' : `pass word ${random.below(1e9)}`),
  new_password: () => 'correct horse fuzz',
  key: known('key', oneOf('0123456789abcdef0123456789abcdef')),
  queue_id: known('queue_id', oneOf('0:0')),
  emoji_name: ({ random, dictionary }) =>
    random.chance(0.8) ? random.pick(emoji)[0] : String(dictionary.pick('emoji_name', random) ?? 'own'),
  emoji_code: ({ random }) => random.pick(emoji)[1],
  reaction_type: oneOf('unicode_emoji', 'unicode_emoji', 'realm_emoji', 'zulip_extra_emoji'),
  flag: oneOf('read', 'starred', 'collapsed'),
  color: oneOf('#76ce90', '#ABCDEF', '#000000'),
  property: oneOf(
    'color',
    'is_muted',
    'in_home_view',
    'pin_to_top',
    'desktop_notifications',
    'audible_notifications',
    'push_notifications',
    'email_notifications',
    'wildcard_mentions_notify',
  ),
  pattern: oneOf('#(?P<id>[0-9]+)', '(?P<org>[a-z]+)/(?P<id>\\d{1,5})', 'TICKET-(?P<id>\\d+)'),
  url_template: oneOf('https://tickets.example/{id}', 'https://x.example/{org}/{id}', 'https://run.example/{code}'),
  pygments_language: oneOf('python', 'javascript', 'c++'),
  domain: ({ random }) => `d${random.below(50)}.example`,
  subdomain: word,
  fragment: known('fragment', oneOf('inbox', 'recent', 'narrow/is/starred', 'feed')),
  anchor_date: oneOf('2026-01-01T00:00:00Z', '2020-05-05', '2030-01-01T00:00:00+02:00'),
  anchor: oneOf('newest', 'oldest', 'first_unread', 'date'),
  event_types: ({ random }) => random.pick(eventTypes),
  fetch_event_types: ({ random }) => random.pick(eventTypes),
  timezone: oneOf('UTC', 'Europe/Berlin', 'America/New_York'),
  default_language: oneOf('en', 'de'),
  emojiset: oneOf('google', 'twitter'),
  onboarding_step: oneOf('intro_inbox_view_modal', 'intro_recent_view_modal', 'visibility_policy_banner'),
  command: oneOf('/ping', '/settings', '/dark', '/light', '/fluid-width', '/fixed-width'),
  message_retention_days: oneOf('unlimited', 'realm_default'),
  widget_content: () =>
    '{"widget_type":"zform","extra_data":{"type":"choices","heading":"h","choices":[{"type":"choice","long_name":"l","reply":"r","short_name":"s"}]}}',
  payload_url: oneOf('https://bot.example/hook'),
  service_payload_url: oneOf('https://bot.example/hook'),
  prev_content_sha256: oneOf('0'.repeat(64)),
  msg_type: () => 'widget',
  push_key: ({ random }) => Buffer.from(`${random.next()}`.padEnd(33, 'x').slice(0, 33)).toString('base64'),
  realm_id_str: known('realm_id_str'),
  realm_id: known('realm_id'),
  folder: known('folder'),
  token: known('token'),
  filename: known('filename'),
  access: known('access'),
  default_sending_stream: known('channel-name'),
  default_events_register_stream: known('channel-name'),
  idempotency_key: ({ random }) => `k${random.below(50)}`,
};

/** Undefined for an unknown name. */
export function sampleNumber(name: string, { random }: Making): number | undefined {
  if (name === 'scheduled_delivery_timestamp')
    return Math.floor(Date.now() / 1000) + random.pick([2, 3_600, 86_400, 31_000_000]);
  if (name === 'role' || name === 'invite_as') return random.pick([100, 200, 300, 400, 600]);
  if (name === 'field_type') return 1 + random.below(8);
  if (name === 'bot_type') return random.pick([1, 1, 2, 3]);
  if (name === 'visibility_policy') return random.below(4);
  if (name === 'num_before' || name === 'num_after') return random.pick([0, 1, 5, 20, 100]);
  if (name === 'invite_expires_in_minutes') return random.pick([1, 60, 14_400]);
  if (name === 'last_event_id') return random.pick([-1, 0, 1, 32, 3_200]);
  if (name === 'idle_queue_timeout') return random.pick([0, 60, 600]);
  if (name === 'message_retention_days') return random.pick([1, 30, 365]);
  if (name === 'timestamp') return Math.floor(Date.now() / 1000);
  return undefined;
}
