/** Two changes at once: the second begins while the first waits for a lock. */
import type { Answer, Json, Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { behindRows } from '../../held-rows.ts';
import { channel, freshName, nameOf, openQuietRealm, streamOf } from './setting.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openQuietRealm();
});

const statuses = (answers: Answer[]): number[] => answers.map(({ status }) => status);

test('of two equal changes of the channels of a default group at once, one is refused', async () => {
  const { owner } = realm;
  const [first, second] = [await nameOf(owner, await channel(owner)), await nameOf(owner, await channel(owner))];
  const group_name = freshName();
  await owner.ok('POST', '/default_stream_groups/create', { group_name, description: '', stream_names: [first] });
  const { realm_default_stream_groups } = await owner.ok('POST', '/register', {
    fetch_event_types: ['default_stream_groups'],
  });
  const { id } = realm_default_stream_groups.find(({ name }: Json) => name === group_name);
  for (const change of [
    { op: 'add', stream_names: [second] },
    { op: 'remove', stream_names: [first] },
  ]) {
    const request = () => owner.patch(`/default_stream_groups/${id}/streams`, change);
    const answers = await behindRows(
      { rows: 'channels.default_group WHERE realm_id = $1 AND id = $2 FOR UPDATE', values: [realm.id, id] },
      [request, request],
    );
    expect([change.op, ...statuses(answers).sort()]).toEqual([change.op, 200, 400]);
  }
});

test.each<[string, number, (id: number, message: number) => Promise<unknown>]>([
  [
    'that is sent to a topic with a name',
    400,
    (id) => realm.member.ok('POST', '/messages', { type: 'channel', to: id, topic: 'named', content: 'sent' }),
  ],
  [
    'that gets a topic with a name',
    400,
    (_, message) => realm.owner.ok('PATCH', `/messages/${message}`, { topic: 'named' }),
  ],
  [
    'that is moved into the channel with its topic',
    400,
    async (id) => {
      const from = await channel(realm.owner, [realm.owner]);
      const form = { type: 'channel', to: from, topic: 'named', content: 'moved' };
      const { id: moved } = await realm.owner.ok('POST', '/messages', form);
      await realm.owner.ok('PATCH', `/messages/${moved}`, { stream_id: id });
    },
  ],
  [
    'whose text is changed',
    200,
    (_, message) => realm.owner.ok('PATCH', `/messages/${message}`, { content: 'changed' }),
  ],
  [
    'that is sent to the empty topic',
    200,
    (id) => realm.member.ok('POST', '/messages', { type: 'channel', to: id, topic: '', content: 'sent' }),
  ],
])('a message %s while the channel is restricted to the empty topic: %i', async (_, expected, arrive) => {
  const { owner, member } = realm;
  const id = await channel(owner, [owner, member]);
  const form = { type: 'channel', to: id, topic: '', content: 'first' };
  const { id: message } = await owner.ok('POST', '/messages', form);
  // Waits until the consumer has applied the message, so that it does not wait for the row of the channel below.
  await expect.poll(async () => (await streamOf(owner, id)).first_message_id).toBe(message);
  const [answer] = await behindRows(
    { rows: 'channels.channel WHERE realm_id = $1 AND id = $2 FOR UPDATE', values: [realm.id, id] },
    [() => owner.patch(`/streams/${id}`, { topics_policy: 'empty_topic_only' })],
    () => arrive(id, message),
  );
  expect(answer?.status).toBe(expected);
  expect((await streamOf(owner, id)).topics_policy).toBe(expected === 200 ? 'empty_topic_only' : 'inherit');
});
