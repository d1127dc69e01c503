import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const refused = ({ status, body }: Json): Json => [status, body.code];

test('a snippet is saved, changed and removed in the list and the register, and only its user receives events', async () => {
  const queue = await realm.member.queue({ event_types: ['saved_snippets'] });
  const { saved_snippet_id } = await realm.member.ok('POST', '/saved_snippets', {
    title: ' Hi ',
    content: '**hello**',
  });
  const snippet = { id: saved_snippet_id, title: 'Hi', content: '**hello**', date_created: expect.any(Number) };
  expect(await queue.next((event) => event.op === 'add')).toMatchObject({ saved_snippet: snippet });
  expect((await realm.member.ok('GET', '/saved_snippets')).saved_snippets).toEqual([snippet]);
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['saved_snippets'] });
  expect(state.saved_snippets).toEqual([snippet]);
  expect((await realm.owner.ok('GET', '/saved_snippets')).saved_snippets).toEqual([]);
  await realm.member.ok('PATCH', `/saved_snippets/${saved_snippet_id}`, {});
  await realm.member.ok('PATCH', `/saved_snippets/${saved_snippet_id}`, { title: 'Hello' });
  expect((await queue.next((event) => event.op === 'update')).saved_snippet).toEqual({ ...snippet, title: 'Hello' });
  for (const attempt of [
    realm.owner.patch(`/saved_snippets/${saved_snippet_id}`, { title: 'mine' }),
    realm.owner.delete(`/saved_snippets/${saved_snippet_id}`),
    realm.member.delete('/saved_snippets/999999'),
  ])
    expect(refused(await attempt)).toEqual([404, 'BAD_REQUEST']);
  await realm.member.ok('DELETE', `/saved_snippets/${saved_snippet_id}`);
  expect(await queue.next((event) => event.op === 'remove')).toMatchObject({ saved_snippet_id });
});

test('a title has 1 to 60 characters, the content 1 to 10000', async () => {
  for (const form of [
    { title: '', content: 'x' },
    { title: ' ', content: 'x' },
    { title: 'x'.repeat(61), content: 'x' },
    { title: 'x', content: '' },
    { title: 'x', content: 'x'.repeat(10_001) },
  ])
    expect(refused(await realm.member.post('/saved_snippets', form))).toEqual([400, 'BAD_REQUEST']);
  await realm.member.ok('POST', '/saved_snippets', { title: 'x'.repeat(60), content: 'x'.repeat(10_000) });
});
