import type { System } from '@natter/local/system';
import { type Answer, request } from '../api.ts';

type Name = keyof System['people'];

/** Messages of the demo organization: [channel, topic, sender, text]. Earlier ones come first. */
const said: [channel: string, topic: string, sender: Name, text: string][] = [
  ['design', 'icons', 'moderator', 'The new icons are in the shared folder. Which set do you prefer?'],
  ['design', 'icons', 'member2', 'The outlined ones. They stay readable at **16 px**, the filled ones do not.'],
  ['design', 'onboarding', 'administrator', 'Three steps are too many. Can the second one move into the settings?'],
  ['support', 'login by link', 'guest', 'The link in my mail has expired. Can I get a new one?'],
  ['support', 'login by link', 'moderator', 'I sent another one. Links are valid for a day.'],
  ['engineering', 'search in Japanese', 'member', 'Search finds 東京 in the middle of a sentence now.'],
  ['engineering', 'release 0.2', 'owner', 'Good morning! What is left for the release?'],
  [
    'engineering',
    'release 0.2',
    'member',
    '1. The upgrade from the previous release runs in the test cluster.\n2. @**Mia Member** looks at the slow query.\n3. Notes for operators are in review.',
  ],
  [
    'engineering',
    'release 0.2',
    'member2',
    'The query was missing an index:\n\n```sql\nCREATE INDEX CONCURRENTLY message_recent\n    ON message (realm_id, id DESC);\n```\n\nPages of messages take 4 ms now, instead of 180 ms.',
  ],
  ['engineering', 'release 0.2', 'administrator', '> Pages of messages take 4 ms\n\nThat was quick. :tada:'],
  [
    'engineering',
    'release 0.2',
    'moderator',
    'I killed two gateways and wiped Redis while the canary ran: **no message lost, none twice**. The figures are in #**engineering>fault tests**.',
  ],
  ['engineering', 'release 0.2', 'owner', 'Then we release on Thursday. Thank you all!'],
];

const reactions: [text: string, name: Name, emoji: string][] = [
  ['The query was missing', 'owner', 'rocket'],
  ['The query was missing', 'member', 'rocket'],
  ['The query was missing', 'moderator', 'clap'],
  ['Then we release', 'member', 'tada'],
  ['Then we release', 'member2', 'tada'],
  ['Then we release', 'administrator', '+1'],
  ['The outlined ones', 'moderator', '+1'],
];

/** Fills the organization of `npm start` with a week of a small team. */
export async function fillDemo({ url, people }: System): Promise<{ engineering: number }> {
  const ask = async (name: Name, method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> => {
    const { status, body } = await request(url, people[name], `${method} ${path}`, form);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const subscribers = Object.values(people).map(({ user_id }) => user_id);
  const channels = new Map<string, number>();
  for (const [name, description] of [
    ['engineering', 'What we build, and how'],
    ['design', 'How it looks'],
    ['support', 'Questions of users'],
  ] as const) {
    const { id } = await ask('owner', 'POST', '/channels/create', { name, description, subscribers });
    channels.set(name, id);
  }
  const sent: [id: number, text: string][] = [];
  for (const [channel, topic, sender, content] of said) {
    const { id } = await ask(sender, 'POST', '/messages', {
      type: 'channel',
      to: channels.get(channel),
      topic,
      content,
    });
    sent.push([id, content]);
  }
  for (const [text, name, emoji_name] of reactions) {
    const found = sent.find(([, content]) => content.startsWith(text));
    if (!found) throw new Error(`no message starts with "${text}"`);
    await ask(name, 'POST', `/messages/${found[0]}/reactions`, { emoji_name });
  }
  await ask('member2', 'POST', '/messages', {
    type: 'direct',
    to: [people.member.user_id],
    content: 'Do you have ten minutes for the index after lunch?',
  });
  for (const name of ['owner', 'member2', 'moderator'] as const)
    await ask(name, 'POST', '/users/me/presence', { status: 'active', new_user_input: true });
  return { engineering: channels.get('engineering') ?? 0 };
}
