import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'general' }],
    principals: [realm.owner.user_id, realm.member.user_id],
  });
});

const messages = {
  en1: 'The deployments were finished, see app.log and the user-profile page',
  en2: 'Error E1234 in foo_bar: getUserName() failed at https://example.com/status/page?id=42',
  en3: 'My résumé mentions the naïve café',
  en4: 'Release v2.10.3 runs on host-17.internal',
  de1: 'Die Häuser in der Straße sind größer geworden',
  de2: 'Wir prüfen den Übertragungsfehler morgen früh',
  fr1: "L'été dernier, la crème brûlée était préférée à tout",
  fr2: 'Le déploiement a échoué, où sont les œuvres ?',
  es1: 'Mañana revisamos la configuración del corazón',
  es2: '¿Quién rompió la compilación otra vez?',
  ru1: 'Сервер сегодня не отвечает, ёлка горит',
  ru2: 'ОШИБКА при запуске приложения',
  ja1: '東京都庁で会議を開きます。サーバーが落ちました。',
  ja2: 'ﾃｽﾄ環境のログを確認してください',
  zh1: '我们明天在北京大学开会,讨论数据库迁移',
  zh2: '服务器app.log文件太大了',
  ko1: '서버가 응답하지 않습니다. 내일 회의에서 논의합시다',
  ko2: '데이터베이스를 업그레이드했습니다',
  ar1: 'الخادِمُ لا يستجيب، أرسل التقرير غدًا',
  el1: 'Η Αθήνα είναι μεγάλη πόλη',
  th1: 'เซิร์ฟเวอร์ล่มแล้วครับ',
  vi1: 'Cuộc họp ngày mai bị hủy',
} as const;
type Key = keyof typeof messages;

const found: [string, Key[]][] = [
  // English
  ['deployment', ['en1']],
  ['DEPLOYMENTS finish', ['en1']],
  ['app.log', ['en1', 'zh2']],
  ['log', ['en1', 'zh2']],
  ['app', ['en1', 'zh2']],
  ['log.app', []],
  ['user-profile', ['en1']],
  ['profile', ['en1']],
  ['"user-profile page"', ['en1']],
  ['E1234', ['en2']],
  ['e1234', ['en2']],
  ['1234', ['en2']],
  ['123', []],
  ['foo_bar', ['en2']],
  ['bar', ['en2']],
  ['foo', ['en2']],
  ['getUserName', ['en2']],
  ['user', ['en1', 'en2']],
  ['example.com', ['en2']],
  ['status/page', ['en2']],
  ['resume', ['en3']],
  ['résumé', ['en3']],
  ['naive cafe', ['en3']],
  ['CAFÉ', ['en3']],
  ['cafe\u0301', ['en3']],
  ['v2.10.3', ['en4']],
  ['10.3', ['en4']],
  ['host-17', ['en4']],
  ['internal', ['en4']],
  // German
  ['Häuser', ['de1']],
  ['hauser', ['de1']],
  ['STRASSE', ['de1']],
  ['strasse grosser', ['de1']],
  ['Straße', ['de1']],
  ['übertragungsfehler', ['de2']],
  ['prufen', ['de2']],
  // French
  ['ete', ['fr1']],
  ["l'été", ['fr1']],
  ['creme brulee', ['fr1']],
  ['"crème brûlée"', ['fr1']],
  ['deploiement', ['fr2']],
  ['oeuvres', ['fr2']],
  // Spanish
  ['manana', ['es1']],
  ['mañana corazon', ['es1']],
  ['configuracion', ['es1']],
  ['quien', ['es2']],
  ['COMPILACIÓN', ['es2']],
  // Russian
  ['сервер', ['ru1']],
  ['СЕРВЕР', ['ru1']],
  ['елка', ['ru1']],
  ['Ёлка', ['ru1']],
  ['ошибка', ['ru2']],
  ['сервер ошибка', []],
  // Japanese
  ['東京', ['ja1']],
  ['京都', ['ja1']],
  ['東京都庁', ['ja1']],
  ['東', ['ja1']],
  ['庁', ['ja1']],
  ['サーバー', ['ja1']],
  ['ｻｰﾊﾞｰ', ['ja1']],
  ['テスト', ['ja2']],
  ['会議 サーバー', ['ja1']],
  ['東都', []],
  // Chinese
  ['北京', ['zh1']],
  ['北京大学', ['zh1']],
  ['大学', ['zh1']],
  ['数据库 明天', ['zh1']],
  ['服务器', ['zh2']],
  ['服务器app.log', ['zh2']],
  ['数据文件', []],
  // Korean
  ['서버', ['ko1']],
  ['서버가', ['ko1']],
  ['회의', ['ko1']],
  ['데이터베이스', ['ko2']],
  ['서버'.normalize('NFD'), ['ko1']],
  // Arabic, Greek, Thai, Vietnamese
  ['الخادم', ['ar1']],
  ['ارسل', ['ar1']],
  ['التقرير', ['ar1']],
  ['αθηνα', ['el1']],
  ['ΠΟΛΗ', ['el1']],
  ['เซิร์ฟเวอร์', ['th1']],
  ['cuoc hop', ['vi1']],
  ['Hủy', ['vi1']],
];

const page = (search: string): Promise<Json> =>
  realm.member.ok('GET', '/messages', {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [['search', search]],
  });

describe('a search', () => {
  const keys = new Map<number, Key>();
  beforeAll(async () => {
    for (const key of Object.keys(messages) as Key[]) {
      const form = { type: 'channel', to: 'general', topic: 'Besprechung', content: messages[key] };
      keys.set((await realm.owner.ok('POST', '/messages', form)).id, key);
    }
  });

  test.each(found)('for %j finds %j', async (search, expected) => {
    const { messages: shown } = await page(search);
    expect(shown.map(({ id }: Json) => keys.get(id)).sort()).toEqual([...expected].sort());
    // What was found is marked.
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

  test('finds the new words of an edited or moved message, and not the former ones', async () => {
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
])('a message and searches of %s are answered', async (_, text) => {
  const form = { type: 'channel', to: 'general', topic: 'hostile', content: text };
  const sent = await realm.owner.send('POST', '/messages', form);
  expect(sent.status).toBeOneOf([200, 400]);
  const searched = (operand: string) =>
    realm.member.send('GET', '/messages', {
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
