import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { type SearchKey, searches, searchTexts } from '../../search-cases.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'general' }],
    principals: [realm.owner.user_id, realm.member.user_id],
  });
});

const page = (search: string): Promise<Json> =>
  realm.member.ok('GET', '/messages', {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [['search', search]],
  });

describe('a search', () => {
  const keys = new Map<number, SearchKey>();
  beforeAll(async () => {
    for (const key of Object.keys(searchTexts) as SearchKey[]) {
      const form = { type: 'channel', to: 'general', topic: 'Besprechung', content: searchTexts[key] };
      keys.set((await realm.owner.ok('POST', '/messages', form)).id, key);
    }
  });

  test.each(searches)('for %j finds %j', async (search, expected) => {
    const { messages: shown } = await page(search);
    expect(shown.map(({ id }: Json) => keys.get(id)).sort()).toEqual([...expected].sort());
    // The found words are highlighted.
    for (const { match_content } of shown) expect(match_content).toContain('<span class="highlight">');
  });

  test.each([
    ['resume cafe', 'My [résumé] mentions the naïve [café]'],
    ['deploy', 'The [deployments] were finished, see app.log and the user-profile page'],
    ['app.log profile', 'The deployments were finished, see [app].[log] and the user-[profile] page'],
    ['strasse', 'Die Häuser in der [Straße] sind größer geworden'],
    ['東京', '[東京]都庁で会議を開きます。サーバーが落ちました。'],
    ['テスト', '[ﾃｽﾄ]環境のログを確認してください'],
    ['文件', '服务器app.log[文件]太大了'],
    ['서버', '[서버]가 응답하지 않습니다. 내일 회의에서 논의합시다'],
    ['ΠΟΛΗ', 'Η Αθήνα είναι μεγάλη [πόλη]'],
  ])('for %j marks %j', async (search, expected) => {
    const { messages: shown } = await page(search);
    const texts = shown.map(({ match_content }: Json) =>
      match_content
        .replaceAll('<span class="highlight">', '[')
        .replaceAll('</span>', ']')
        .replace(/<[^>]*>/g, ''),
    );
    expect(texts).toContain(expected);
  });

  test('finds and marks words of the topic', async () => {
    const { messages: shown } = await page('besprechung kuchen');
    expect(shown).toEqual([]);
    const { messages: all } = await page('besprechung');
    expect(all.length).toBe(keys.size);
    expect(all[0].match_subject).toBe('<span class="highlight">Besprechung</span>');
  });

  test('finds the new words of an edited or moved message, but not the old ones', async () => {
    const form = { type: 'channel', to: 'general', topic: 'vorher', content: 'Ölgemälde' };
    const { id } = await realm.owner.ok('POST', '/messages', form);
    await realm.owner.ok('PATCH', `/messages/${id}`, {
      content: 'Zeichnung 東洋',
      topic: 'später',
      send_notification_to_new_thread: false,
    });
    const idsOf = async (search: string) => (await page(search)).messages.map((message: Json) => message.id);
    expect([await idsOf('olgemalde'), await idsOf('vorher')]).toEqual([[], []]);
    expect([await idsOf('東洋'), await idsOf('spater zeichnung')]).toEqual([[id], [id]]);
  });
});

const marks = '\u0301\u0316\u05b4\u0591\u0f39\u0c4d\u302a\u0345';
test.each<[string, string]>([
  ['one long word', 'x'.repeat(10_000)],
  ['one long text without spaces', '東'.repeat(10_000)],
  ['many words without spaces', Array.from({ length: 9_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')],
  ['punctuation', '.,;:!?-_/\\\'"()[]{}<>&|*~^%$#@`=+'.repeat(300)],
  ['quotes and operators', `' " \\ & | ! :* <-> ( ) 'a' \\'`.repeat(300)],
  ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈😀'.repeat(400)],
  ['accents on one letter', `a${'\u0301'.repeat(9_000)}`],
  ['marks of many kinds', marks.repeat(1_200)],
  ['ligatures', '\ufdfa'.repeat(9_000)],
  ['mixed scripts', 'aбв東ก가ا1_é'.repeat(900)],
  ['names', 'aB1'.repeat(3_300)],
])('a message with %s can be sent and searched without a server error', async (_, text) => {
  const form = { type: 'channel', to: 'general', topic: 'hostile', content: text };
  const sent = await realm.owner.patiently('POST', '/messages', form);
  expect(sent.status).toBeOneOf([200, 400]);
  const searched = (operand: string) =>
    realm.member.patiently('GET', '/messages', {
      anchor: 'newest',
      num_before: 10,
      num_after: 0,
      narrow: [['search', operand]],
    });
  const first = (length: number): string => text.slice(0, length).toWellFormed();
  expect(await searched(first(1_001))).toMatchObject({ status: 400, body: { code: 'BAD_NARROW' } });
  for (const part of [first(1_000), first(100), first(3), `"${first(500)}"`])
    expect((await searched(part)).status).toBe(200);
});
