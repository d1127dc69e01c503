import { type Answer, type Client, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** What one person or one organization accumulates has an end, however many requests come at once. */
let realm: Realm;

beforeAll(async () => {
  realm = await openRealm();
});

/** So many at once; gives those that were refused. */
async function atOnce(count: number, send: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  return answers.filter(({ status }) => status !== 200);
}

function expectRefused(refused: Answer[], count: number, text: RegExp): void {
  expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 400));
  for (const { body } of refused) expect(body.msg).toMatch(text);
}

const collections: [string, number, RegExp, (who: Client, index: number) => Promise<Answer>][] = [
  [
    'playgrounds',
    200,
    /Too many playgrounds \(limit: 200\)/,
    (who, index) =>
      who.post('/realm/playgrounds', {
        name: `p${index}`,
        pygments_language: 'Python',
        url_template: 'https://x.example/{code}',
      }),
  ],
  [
    'custom profile fields',
    100,
    /Too many custom profile fields \(limit: 100\)/,
    (who, index) => who.post('/realm/profile_fields', { name: `f${index}`, field_type: 1 }),
  ],
  [
    'device tokens',
    100,
    /Too many device tokens \(limit: 100\)/,
    (who, index) => who.post('/users/me/android_gcm_reg_id', { token: `t${index}` }),
  ],
];
test.each(collections)('%s: the %i-th is the last, of many at once', async (_, limit, text, send) => {
  expectRefused(await atOnce(limit + 7, (index) => send(realm.owner, index)), 7, text);
  expectRefused([await send(realm.owner, limit + 8)], 1, text);
});

test('drafts: a request that would exceed the limit stores none', async () => {
  const drafts = Array.from({ length: 1_000 }, () => ({ type: '', to: [], topic: '', content: 'x' }));
  for (let count = 0; count < 5; count++) await realm.member.ok('POST', '/drafts', { drafts });
  expectRefused([await realm.member.post('/drafts', { drafts: drafts.slice(0, 2) })], 1, /Too many drafts/);
  expect((await realm.member.ok('GET', '/drafts')).count).toBe(5_000);
});

test('alert words: a thousand are kept', async () => {
  const alert_words = Array.from({ length: 1_000 }, (_, index) => `word${index}`);
  await realm.member.ok('POST', '/users/me/alert_words', { alert_words });
  const more = await realm.member.post('/users/me/alert_words', { alert_words: ['more'] });
  expectRefused([more], 1, /Too many alert words/);
});

test('one request creates at most two hundred channels', async () => {
  const channels = Array.from({ length: 201 }, (_, index) => ({ name: `many ${index}` }));
  const refused = await realm.owner.post('/users/me/subscriptions', { subscriptions: channels });
  expectRefused([refused], 1, /at most 200 channels at once/);
});
