import { Client, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

/** Parts of one text; each begins and ends beside a mark, so that all of them occur on their own. */
const text = 'ab!cd?ef#gh$ij%'.repeat(300);
const wordsIn = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => text.slice(3 * from, 3 * from + 3 * (index + 1) - 1));

test('a text with very many alert words alerts all their users', async () => {
  const { member, member2, guest, administrator } = await openRealm();
  // Each text contains more than 200 alert words.
  for (const from of [0, 1, 2, 3, 4])
    for (const who of [member, member2])
      await who.ok('POST', '/users/me/alert_words', { alert_words: wordsIn(from, 33) });
  await guest.ok('POST', '/users/me/alert_words', { alert_words: ['zz', 'ab!zz'] });
  await administrator.ok('POST', '/users/me/alert_words', { alert_words: ['yy'] });
  const to = [member, member2, guest, administrator].map(({ user_id }) => user_id);
  const { id } = await member.ok('POST', '/messages', { type: 'direct', to, content: `${text} yy` });
  const flags = await Promise.all(
    [member, member2, guest, administrator].map(async (who) => (await who.ok('GET', `/messages/${id}`)).message.flags),
  );
  expect(flags.map((list) => list.includes('has_alert_word'))).toEqual([true, true, false, true]);
});

test('the alert words of a user and their bots share a limit of number and of bytes', async () => {
  const { member } = await openRealm();
  const made = await member.ok('POST', '/bots', { full_name: 'Words', short_name: 'words' });
  const { user_id, api_key } = made;
  const bot = new Client(member, { user_id, api_key, email: `words-bot@${member.host}`, full_name: 'Words' });
  const words = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `word ${from + index}`);
  await member.ok('POST', '/users/me/alert_words', { alert_words: words(0, 600) });
  await bot.ok('POST', '/users/me/alert_words', { alert_words: words(0, 400) });
  const answers = await Promise.all(
    [member, bot].map((who) => who.post('/users/me/alert_words', { alert_words: ['one more'] })),
  );
  expect(answers.map(({ body }) => body.msg)).toEqual(Array(2).fill('Too many alert words (limit: 1000)'));
  await member.ok('DELETE', '/users/me/alert_words', { alert_words: words(0, 600) });
  const long = Array.from({ length: 170 }, (_, index) => `${'𝓌'.repeat(96)}${index}`);
  const { body } = await member.post('/users/me/alert_words', { alert_words: long });
  expect(body.msg).toBe('Too much text in alert words (limit: 64 KiB)');
});

test('a bot that is given to another owner loses its alert words', async () => {
  const { member, member2 } = await openRealm();
  const { user_id, api_key } = await member.ok('POST', '/bots', { full_name: 'Given', short_name: 'given' });
  const of = (key: string): Client =>
    new Client(member, { user_id, api_key: key, email: `given-bot@${member.host}`, full_name: 'Given' });
  await of(api_key).ok('POST', '/users/me/alert_words', { alert_words: ['tea'] });
  await member.ok('PATCH', `/bots/${user_id}`, { bot_owner_id: member2.user_id });
  const given = of((await member2.ok('GET', `/bots/${user_id}/api_key`)).api_key);
  expect((await given.ok('GET', '/users/me/alert_words')).alert_words).toEqual([]);
});

test('alert words without letters, which are slow to match, do not prevent alerts for other users', async () => {
  const { member, member2, administrator } = await openRealm();
  const signs = Array.from(
    { length: 1_000 },
    (_, index) => `${'!'.repeat(48)}${index.toString(2).padStart(10, '0').replaceAll('0', '!').replaceAll('1', '?')}`,
  );
  for (const from of [0, 250, 500, 750])
    await member.ok('POST', '/users/me/alert_words', { alert_words: signs.slice(from, from + 250) });
  await member2.ok('POST', '/users/me/alert_words', { alert_words: ['release'] });
  const content = `${'a!'.repeat(4_900)} release`;
  const { id } = await administrator.ok('POST', '/messages', { type: 'direct', to: [member2.user_id], content });
  expect((await member2.ok('GET', `/messages/${id}`)).message.flags).toContain('has_alert_word');
});
