import { randomUUID } from 'node:crypto';
import { type Client, connected, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { channel } from '../channels/setting.ts';

let realm: Realm;
let channelId: number;
beforeAll(async () => {
  realm = await openRealm();
  channelId = await channel(realm.owner, [realm.owner, realm.guest, realm.member]);
});

/** Sends as clients do. Costly messages may be refused more often than `few-repetitions.ts` permits. */
async function sent(client: Client, content: string): Promise<string> {
  const form = { type: 'channel', to: channelId, topic: 't', content };
  const key = { 'idempotency-key': randomUUID() };
  const answer = await untilServed(() => client.send('POST', '/messages', form, key));
  expect(answer).toMatchObject({ status: 200 });
  const { id } = answer.body;
  const { message } = await realm.owner.ok('GET', `/messages/${id}`, { apply_markdown: true });
  return message.content;
}

/** Expands 1,200 characters to 156,000, which must be typeset. */
const macros = `$$\\def\\a{${'x'.repeat(800)}}${'\\a'.repeat(195)}$$`;

test('a hostile linkifier pattern of a guest is rejected because of their role, and the users service continues', async () => {
  const pattern = `${'(?:'.repeat(30)}${'){1000}'.repeat(30)}`;
  for (const [method, path] of [
    ['POST', '/realm/filters'],
    ['PATCH', '/realm/filters/1'],
  ] as const) {
    const refused = await realm.guest.send(method, path, { pattern, url_template: 'https://x.example' });
    expect([refused.status, refused.body.msg]).toEqual([400, 'Must be an organization administrator']);
  }
  expect((await realm.member.ok('GET', '/users/me')).user_id).toBe(realm.member.user_id);
});

test.each(['(?:(?:){1000}){1000}', '((a{1000}){1000}){1000}', 'x{1000}'.repeat(140)])(
  'the linkifier pattern %j of an administrator is rejected',
  async (pattern) => {
    const form = { pattern, url_template: 'https://x.example' };
    // The threads that check it may still be starting.
    const refused = await untilServed(() => realm.owner.send('POST', '/realm/filters', form));
    expect([refused.status, refused.body.msg]).toEqual([400, 'Bad regular expression']);
    expect((await realm.member.ok('GET', '/users/me')).user_id).toBe(realm.member.user_id);
  },
);

test('expanding macros are shown as their source in messages, edits, previews and descriptions', async () => {
  expect(await sent(realm.guest, `**a**\n${macros}`)).toBe(`<p>**a**<br>\n${macros}</p>`);
  const preview = await realm.owner.ok('POST', '/messages/render', { content: macros });
  expect(preview.rendered).toBe(`<p>${macros}</p>`);
  const { id } = await realm.member.ok('POST', '/messages', {
    type: 'channel',
    to: channelId,
    topic: 't',
    content: 'before',
  });
  await realm.member.ok('PATCH', `/messages/${id}`, { content: macros });
  expect((await realm.owner.ok('GET', `/messages/${id}`, { apply_markdown: true })).message.content).toBe(
    `<p>${macros}</p>`,
  );
  const short = `$$\\def\\a{${'x'.repeat(600)}}${'\\a'.repeat(190)}$$`;
  await realm.owner.ok('PATCH', `/streams/${channelId}`, { description: short });
  const { stream } = await realm.owner.ok('GET', `/streams/${channelId}`);
  expect(stream.rendered_description).toBe(`<p>${short}</p>`);
});

test('a matrix that would expand to megabytes is shown as its source', async () => {
  const shown = await sent(realm.guest, `$$\\begin{matrix}${`${'&'.repeat(90)}\\\\`.repeat(20)}\\end{matrix}$$`);
  expect(shown).toContain('\\begin{matrix}');
  expect(shown.length).toBeLessThan(20_000);
});

test('expensive messages of a guest do not prevent the messages of others from being rendered', async () => {
  const hostile = Array.from({ length: 6 }, () => sent(realm.guest, macros));
  const plain = await Promise.all(Array.from({ length: 10 }, (_, i) => sent(realm.member, `**plain ${i}**`)));
  expect(plain).toEqual(Array.from({ length: 10 }, (_, i) => `<p><strong>plain ${i}</strong></p>`));
  for (const shown of await Promise.all(hostile)) expect(shown).toBe(`<p>${macros}</p>`);
  // The realm's CPU budget is used up for a few seconds.
  await expect.poll(() => sent(realm.member, '$$x$$'), { interval: 500 }).toContain('class="katex"');
});

test('code that is slow to highlight is shown, and messages of others are sent meanwhile', async () => {
  const texts = ['pgsql', 'livescript', 'java'].map((language) => `\`\`\`${language}\n${'$'.repeat(9_900)}\n\`\`\``);
  const hostile = texts.map((text) => sent(realm.guest, text));
  const plain = await Promise.all(Array.from({ length: 10 }, (_, i) => sent(realm.member, `**plain ${i}**`)));
  expect(plain).toEqual(Array.from({ length: 10 }, (_, i) => `<p><strong>plain ${i}</strong></p>`));
  // Highlighted, or as typed if a limit was reached.
  for (const shown of await Promise.all(hostile)) expect(shown.replace(/<[^>]*>/g, '')).toContain('$'.repeat(9_900));
});

test('a search highlights only its matches in a message with private-use characters', async () => {
  await sent(realm.member, 'findable \ue000 \ue001 \ue001 word');
  const { messages } = await realm.member.ok('GET', '/messages', {
    anchor: 'newest',
    num_before: 5,
    num_after: 0,
    narrow: JSON.stringify([{ operator: 'search', operand: 'findable' }]),
  });
  expect(messages.map((message: { match_content: string }) => message.match_content)).toEqual([
    '<p><span class="highlight">findable</span> \ue000 \ue001 \ue001 word</p>',
  ]);
});

test('a text is indexed in time proportional to its length, for any characters', async () => {
  await connected(async (client) => {
    // With time quadratic in the length this would take minutes.
    await client.query("SET statement_timeout = '60s'");
    const plain = ['a_', '1_', 'ab-c_', 'a', '漢', 'é_', 'http://a.b/c_', '<!-- '];
    // Characters that normalizing makes marks, marks of Unicode 15, and marks between signs that are omitted.
    const marks = ['\u0301\uff9e', '\u{1e4ec}\u{1e4ee}', `${'\u0301'.repeat(3)}${'\u0323'.repeat(3)}\u0640`];
    // Parts of names are looked for only in a text that contains one.
    for (const run of [...plain, ...marks])
      await client.query('SELECT messaging.search_of(0, $1, $2)', ['aA1', run.repeat(100_000 / run.length)]);
  });
  expect(await sent(realm.guest, 'a_'.repeat(5_000))).toContain('a_a_a');
});

test('of a text of different characters without spaces the first pairs are stored', async () => {
  const text = String.fromCodePoint(...Array.from({ length: 10_000 }, (_, index) => 0x4e00 + index));
  const parts = [text.slice(0, 2), text.slice(3_000, 3_010), text.slice(-2)];
  await connected(async (client) => {
    const { rows } = await client.query(
      `SELECT length(v) AS pairs, ARRAY(SELECT v @@ messaging.search_term('english', part) FROM unnest($2::text[]) part) AS found
      FROM messaging.search_vector('english', $1) v`,
      [text, parts],
    );
    expect(rows).toEqual([{ pairs: 4_000, found: [true, true, false] }]);
    // Merging a long list of words into the index would delay an insert by a second.
    const { rows: lists } = await client.query(
      "SELECT option_value::int AS kib FROM pg_class, pg_options_to_table(reloptions) WHERE relname = 'message_search' AND option_name = 'gin_pending_list_limit'",
    );
    expect(lists).toEqual([{ kib: 256 }]);
  });
});

test('a long text of characters without spaces is found by any two of them', async () => {
  const characters = Array.from({ length: 400 }, (_, index) => String.fromCodePoint(0x4e00 + 7 * index));
  await sent(realm.member, characters.join(''));
  for (const at of [0, 99, 100, 199, 398]) {
    const operand = characters.slice(at, at + 2).join('');
    const form = { anchor: 'newest', num_before: 1, num_after: 0, narrow: JSON.stringify([['search', operand]]) };
    const { messages } = await realm.member.ok('GET', '/messages', form);
    expect(messages).toHaveLength(1);
    expect(messages[0].match_content).toContain(`<span class="highlight">${operand}</span>`);
  }
});
