import { type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
let channelId: number;
let privateId: number;
beforeAll(async () => {
  realm = await openRealm();
  const make = async (name: string, form: object) => {
    await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], ...form });
    return (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
  };
  channelId = await make('open', {});
  privateId = await make('closed', { invite_only: true });
});

const draft = (changes: object = {}): Json => ({
  type: 'private',
  to: [realm.member2.user_id],
  topic: '',
  content: 'not yet',
  timestamp: 1_700_000_000,
  ...changes,
});
const store = async (...drafts: Json[]): Promise<number[]> =>
  (await realm.member.ok('POST', '/drafts', { drafts })).ids;

describe('a draft', () => {
  test('is stored, and listed by the time of its last edit', async () => {
    const person = await realm.person();
    const { ids } = await person.ok('POST', '/drafts', {
      drafts: [
        draft({ content: '\n later ', timestamp: 1_700_000_009.7 }),
        draft({ type: 'stream', to: [channelId], topic: 'lunch', content: 'earlier', timestamp: 1_700_000_001 }),
      ],
    });
    expect(await person.ok('GET', '/drafts')).toMatchObject({
      count: 2,
      drafts: [
        { id: ids[1], type: 'stream', to: [channelId], topic: 'lunch', content: 'earlier', timestamp: 1_700_000_001 },
        {
          id: ids[0],
          type: 'private',
          to: [realm.member2.user_id],
          topic: '',
          content: ' later',
          timestamp: 1_700_000_009,
        },
      ],
    });
  });

  test('without a type or recipients has neither type nor recipients nor topic', async () => {
    const person = await realm.person();
    await person.ok('POST', '/drafts', { drafts: [draft({ type: '', to: [realm.member.user_id], topic: 'x' })] });
    await person.ok('POST', '/drafts', { drafts: [draft({ to: [] })] });
    const { drafts } = await person.ok('GET', '/drafts');
    for (const one of drafts) expect(one).toMatchObject({ type: '', to: [], topic: '' });
    expect(drafts).toHaveLength(2);
  });

  test('without a timestamp gets the current time', async () => {
    const person = await realm.person();
    await person.ok('POST', '/drafts', { drafts: [draft({ timestamp: undefined })] });
    const { drafts } = await person.ok('GET', '/drafts');
    expect(Math.abs(drafts[0].timestamp - Date.now() / 1000)).toBeLessThan(120);
  });

  test.each<[string, () => object]>([
    ['other keys', () => ({ colour: 'red' })],
    ['an unknown type', () => ({ type: 'letter' })],
    ['no content', () => ({ content: undefined })],
    ['blank content', () => ({ content: ' \n ' })],
    ['a negative timestamp', () => ({ timestamp: -1 })],
    ['two channels', () => ({ type: 'stream', to: [channelId, privateId] })],
    ['no channel', () => ({ type: 'stream', to: [] })],
    ['a channel that does not exist', () => ({ type: 'stream', to: [999_999] })],
    ['a channel its author may not read', () => ({ type: 'stream', to: [privateId] })],
    ['an unknown recipient', () => ({ to: [999_999] })],
  ])('with %s is rejected, and no draft of the request is stored', async (_, changes) => {
    const before = await realm.member.ok('GET', '/drafts');
    const { status, body } = await realm.member.post('/drafts', { drafts: [draft(), draft(changes())] });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect((await realm.member.ok('GET', '/drafts')).count).toBe(before.count);
  });

  test('in a channel that its author may not read returns the same error as in a missing channel', async () => {
    const [hidden, none] = [privateId, 999_999].map((to) => draft({ type: 'stream', to: [to] }));
    const answers = [
      await realm.member.post('/drafts', { drafts: [hidden] }),
      await realm.member.post('/drafts', { drafts: [none] }),
    ];
    expect(answers[0]?.body).toEqual(answers[1]?.body);
  });

  test('can be replaced by its owner only', async () => {
    const [id] = await store(draft());
    const queue = await realm.member.queue({ event_types: ['drafts'] });
    await realm.member.ok('PATCH', `/drafts/${id}`, {
      draft: draft({ type: 'stream', to: [channelId], topic: 'tea', content: 'now', timestamp: 1_700_000_100 }),
    });
    const changed = { id, type: 'stream', to: [channelId], topic: 'tea', content: 'now', timestamp: 1_700_000_100 };
    expect(await queue.next((event) => event.op === 'update')).toMatchObject({ type: 'drafts', draft: changed });
    expect((await realm.member.ok('GET', '/drafts')).drafts).toContainEqual(changed);
    for (const other of [
      await realm.member2.patch(`/drafts/${id}`, { draft: draft() }),
      await realm.member.patch('/drafts/99999999', { draft: draft() }),
      await realm.member.patch('/drafts/99999999', { draft: draft({ type: 'stream', to: [privateId] }) }),
    ])
      expect([other.status, other.body.code]).toEqual([404, 'BAD_REQUEST']);
  });

  test('can be deleted by its owner only', async () => {
    const [id] = await store(draft());
    const queue = await realm.member.queue({ event_types: ['drafts'] });
    expect((await realm.member2.delete(`/drafts/${id}`)).status).toBe(404);
    await realm.member.ok('DELETE', `/drafts/${id}`);
    expect(await queue.next((event) => event.op === 'remove')).toMatchObject({ type: 'drafts', draft_id: id });
    expect((await realm.member.delete(`/drafts/${id}`)).status).toBe(404);
  });

  test('sends its events to its owner only', async () => {
    const [mine, other] = [await realm.member.queue(), await realm.owner.queue()];
    const [id] = await store(draft({ content: 'secret' }));
    const event = await mine.next((seen) => seen.type === 'drafts');
    expect(event).toMatchObject({ op: 'add', drafts: [{ id, content: 'secret' }] });
    expect((await other.settle()).filter((seen) => seen.type === 'drafts')).toEqual([]);
  });

  test('shows an empty topic by its display name to clients without empty_topic_name', async () => {
    const old = await realm.member.queue({ event_types: ['drafts'] });
    const capable = await realm.member.queue({
      event_types: ['drafts'],
      client_capabilities: { empty_topic_name: true },
    });
    await store(draft({ type: 'stream', to: [channelId], topic: 'general chat' }));
    expect((await old.next((event) => event.op === 'add')).drafts[0].topic).toBe('general chat');
    expect((await capable.next((event) => event.op === 'add')).drafts[0].topic).toBe('');
  });

  test('is stored once if its request is repeated with the same key', async () => {
    const person = await realm.person();
    const send = () => person.post('/drafts', { drafts: [draft()] }, { 'idempotency-key': 'draft-1' });
    const [first, second] = [await send(), await send()];
    expect(second.body.ids).toEqual(first.body.ids);
    expect((await person.ok('GET', '/drafts')).count).toBe(1);
  });
});

test('the drafts of a register plus later events equal the drafts of a later register', async () => {
  const person = await realm.person();
  const make = async (content: string) => (await person.ok('POST', '/drafts', { drafts: [draft({ content })] })).ids[0];
  const [kept, edited, deleted] = [await make('kept'), await make('old'), await make('gone')];
  const queue = await person.queue();
  await make('new');
  await person.ok('PATCH', `/drafts/${edited}`, { draft: draft({ content: 'edited' }) });
  await person.ok('DELETE', `/drafts/${deleted}`);
  await queue.next((event) => event.type === 'drafts' && event.op === 'remove');
  const state = new Map<number, Json>(queue.state.drafts.map((item: Json) => [item.id, item]));
  for (const event of queue.seen) {
    if (event.type !== 'drafts') continue;
    if (event.op === 'add') for (const item of event.drafts) state.set(item.id, item);
    if (event.op === 'update') state.set(event.draft.id, event.draft);
    if (event.op === 'remove') state.delete(event.draft_id);
  }
  const fresh = new Map<number, Json>((await person.queue()).state.drafts.map((item: Json) => [item.id, item]));
  expect(state).toEqual(fresh);
  expect([...state.values()].map((item) => item.content).sort()).toEqual(['edited', 'kept', 'new']);
  expect(state.has(kept)).toBe(true);
});
