import { openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('new members of a group receive one event of each kind for channels with the same subscribers', async () => {
  const realm = await openRealm();
  const { owner } = realm;
  const [first, second] = [await realm.person(), await realm.person()];
  const { group_id } = await owner.ok('POST', '/user_groups/create', { name: 'team', description: '', members: [] });
  const channels: number[] = [];
  for (const name of ['one', 'two', 'three']) {
    const form = { name, invite_only: true, subscribers: [owner.user_id], can_subscribe_group: group_id };
    channels.push((await owner.ok('POST', '/channels/create', form)).id);
  }
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'three' }],
    principals: [second.user_id],
  });
  const queues = await Promise.all(
    [first, second].map((who) => who.queue({ event_types: ['stream', 'subscription', 'message'] })),
  );
  await owner.ok('POST', `/user_groups/${group_id}/members`, { add: [first.user_id, second.user_id] });
  const [one, two, three] = channels;
  // Another service than the one that changes the group announces the channels.
  await Promise.all(
    [three, two].map((last, index) =>
      queues[index]?.next(({ op, stream_ids }) => op === 'peer_add' && stream_ids.includes(last)),
    ),
  );
  for (const queue of queues) await queue.settle();
  const idsOf = (index: number, op: string): number[][] =>
    (queues[index]?.seen ?? [])
      .filter((event) => event.op === op)
      .map((event) => event.stream_ids ?? event.streams.map(({ stream_id }: { stream_id: number }) => stream_id));
  // The events of the channel that the second user could see already have other receivers and other subscribers.
  expect(idsOf(0, 'create')).toEqual([[one, two], [three]]);
  expect(idsOf(0, 'peer_add')).toEqual([[one, two], [three]]);
  expect(idsOf(1, 'create')).toEqual([[one, two]]);
  expect(idsOf(1, 'peer_add')).toEqual([[one, two]]);
});
