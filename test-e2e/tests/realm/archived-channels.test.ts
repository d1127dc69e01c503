import { connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const names = [
  'moderation_request_channel_id',
  'new_stream_announcements_stream_id',
  'signup_announcements_stream_id',
  'zulip_update_announcements_stream_id',
];
const all = (value: number): Json => Object.fromEntries(names.map((name) => [name, value]));

let made = 0;
const create = async (): Promise<number> => {
  const form = { name: `channel ${++made}`, subscribers: [realm.owner.user_id], invite_only: true };
  return (await realm.owner.ok('POST', '/channels/create', form)).id;
};
const settings = async (): Promise<Json> => {
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['realm'] });
  return Object.fromEntries(names.map((name) => [name, state[`realm_${name}`]]));
};

test('archiving a channel clears the settings that refer to it', async () => {
  const { owner, member } = realm;
  const [id, other] = [await create(), await create()];
  await owner.ok('PATCH', '/realm', all(id));
  const queue = await member.queue({ event_types: ['realm'] });
  await owner.ok('DELETE', `/streams/${other}`);
  await owner.ok('DELETE', `/streams/${id}`);
  const event = await queue.next((seen) => seen.op === 'update_dict');
  expect(event).toMatchObject({ property: 'default', data: all(-1) });
  expect(queue.seen).toHaveLength(1);
  expect(await settings()).toEqual(all(-1));
  await owner.ok('PATCH', `/streams/${id}`, { is_archived: false });
  await owner.ok('PATCH', '/realm', { signup_announcements_stream_id: id });
  expect(await settings()).toEqual({ ...all(-1), signup_announcements_stream_id: id });
});

test('a setting that names a restored channel is kept when its archiving is handled late', async () => {
  const { owner } = realm;
  const [id, other] = [await create(), await create()];
  await owner.ok('PATCH', '/realm', { new_stream_announcements_stream_id: other });
  await connected(async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM users.consumer WHERE realm_id = $1 FOR UPDATE', [realm.id]);
    await owner.ok('DELETE', `/streams/${id}`);
    await owner.ok('PATCH', `/streams/${id}`, { is_archived: false });
    await owner.ok('PATCH', '/realm', { signup_announcements_stream_id: id });
    await owner.ok('DELETE', `/streams/${other}`);
    await holder.query('COMMIT');
  });
  // The event of `id` has been handled if the later one of `other` has.
  await expect.poll(async () => (await settings()).new_stream_announcements_stream_id).toBe(-1);
  expect((await settings()).signup_announcements_stream_id).toBe(id);
});

test('the channel for reports must stay private', async () => {
  const { owner } = realm;
  const id = await create();
  await owner.ok('PATCH', '/realm', { moderation_request_channel_id: id });
  for (const form of [{ is_private: false }, { is_web_public: true }]) {
    const { status, body } = await owner.patch(`/streams/${id}`, form);
    expect([status, body.msg]).toEqual([400, 'Moderation request channel must be private.']);
  }
  await owner.ok('PATCH', `/streams/${id}`, { history_public_to_subscribers: true });
  await owner.ok('PATCH', '/realm', { moderation_request_channel_id: -1 });
  await owner.ok('PATCH', `/streams/${id}`, { is_private: false });
});

test.each<[string, Json, (channel: Json) => boolean]>([
  ['archived', { is_archived: true }, (channel) => !channel.is_archived],
  ['made public', { is_private: false }, (channel) => channel.invite_only],
])('a channel that is concurrently %s does not remain the channel for reports', async (_, change, mayBe) => {
  const { owner, administrator } = realm;
  const outcomes: number[] = [];
  for (let round = 0; round < 15; round++) {
    const id = await create();
    const answers = await Promise.all([
      administrator.patch('/realm', { moderation_request_channel_id: id }),
      owner.patch(`/streams/${id}`, change),
    ]);
    for (const { status } of answers) outcomes.push(status);
    const { moderation_request_channel_id } = await settings();
    const { stream } = await owner.ok('GET', `/streams/${id}`);
    if (moderation_request_channel_id === id) expect(mayBe(stream), JSON.stringify(answers)).toBe(true);
  }
  expect(outcomes.filter((status) => status !== 200 && status !== 400)).toEqual([]);
});
