import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const list = async (): Promise<Json[]> => (await realm.member.ok('GET', '/navigation_views')).navigation_views;
const refused = ({ status, body }: Json): Json => [status, body.code];
const badRequest = [400, 'BAD_REQUEST'];

test('POST /navigation_views adds a view to the list and the register and sends an event to its user only (4.15)', async () => {
  const own = await realm.member.queue({ event_types: ['navigation_view'] });
  const other = await realm.owner.queue({ event_types: ['navigation_view', 'message'] });
  await realm.member.ok('POST', '/navigation_views', { fragment: 'narrow/is/starred', is_pinned: true });
  await realm.member.ok('POST', '/navigation_views', {
    fragment: 'narrow/is/alerted',
    is_pinned: false,
    name: 'Watched',
  });
  const expected = [
    { fragment: 'narrow/is/starred', is_pinned: true },
    { fragment: 'narrow/is/alerted', is_pinned: false, name: 'Watched' },
  ];
  await own.next((event) => event.navigation_view.name === 'Watched');
  expect(own.seen.map((event) => [event.op, event.navigation_view])).toEqual(expected.map((view) => ['add', view]));
  expect(await list()).toEqual(expected);
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['navigation_views'] });
  expect(state.navigation_views).toEqual(expected);
  expect(await other.settle()).toEqual([]);
});

test('invalid or duplicate fragments and invalid, missing or duplicate names are rejected', async () => {
  await realm.member2.ok('POST', '/navigation_views', { fragment: 'inbox', is_pinned: true });
  await realm.member2.ok('POST', '/navigation_views', { fragment: 'narrow/a', is_pinned: true, name: 'A' });
  for (const form of [
    { fragment: '', is_pinned: true },
    { fragment: '  ', is_pinned: true, name: 'x' },
    { fragment: 'inbox', is_pinned: false },
    { fragment: 'narrow/b', is_pinned: true, name: 'A' },
    { fragment: 'recent', is_pinned: true, name: 'Recent' },
    { fragment: 'narrow/c', is_pinned: true },
    { fragment: 'narrow/c', is_pinned: true, name: ' ' },
    { fragment: 'narrow/c', is_pinned: true, name: 'x'.repeat(101) },
  ])
    expect(refused(await realm.member2.post('/navigation_views', form)), JSON.stringify(form)).toEqual(badRequest);
  expect(refused(await realm.member2.post('/navigation_views', { fragment: 'feed' }))).toEqual([
    400,
    'REQUEST_VARIABLE_MISSING',
  ]);
});

test('PATCH and DELETE address a view by its encoded fragment, and events contain only changed values', async () => {
  const fragment = 'narrow/channel/7-général/topic/a.2Fb';
  await realm.member.ok('POST', '/navigation_views', { fragment, is_pinned: false, name: 'Topic' });
  const path = `/navigation_views/${encodeURIComponent(fragment)}`;
  const queue = await realm.member.queue({ event_types: ['navigation_view', 'message'] });
  await realm.member.ok('PATCH', path, { is_pinned: true, name: 'Topic' });
  expect(await queue.next(() => true)).toMatchObject({ op: 'update', fragment, data: { is_pinned: true } });
  await realm.member.ok('PATCH', path, { is_pinned: true });
  expect(await queue.settle()).toEqual([]);
  await realm.member.ok('PATCH', path, { name: 'Renamed' });
  expect((await queue.next((event) => event.op === 'update')).data).toEqual({ name: 'Renamed' });
  await realm.member.ok('DELETE', path);
  expect(await queue.next((event) => event.op === 'remove')).toMatchObject({ fragment });
  expect((await list()).map((view) => view.fragment)).not.toContain(fragment);
});

test('a missing view and a view of another user return 404 with BAD_REQUEST', async () => {
  await realm.owner.ok('POST', '/navigation_views', { fragment: 'drafts', is_pinned: true });
  for (const attempt of [
    realm.guest.patch('/navigation_views/drafts', { is_pinned: false }),
    realm.guest.delete('/navigation_views/drafts'),
    realm.guest.delete('/navigation_views/nowhere'),
  ])
    expect(refused(await attempt)).toEqual([404, 'BAD_REQUEST']);
});

test('a view created with a null name has no name', async () => {
  await realm.administrator.ok('POST', '/navigation_views', { fragment: 'scheduled', is_pinned: true, name: null });
  const { navigation_views } = await realm.administrator.ok('GET', '/navigation_views');
  expect(navigation_views).toEqual([{ fragment: 'scheduled', is_pinned: true }]);
});
