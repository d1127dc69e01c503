import { type Client, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

const unreadIds = ({ pms, streams, huddles }: Json): number[] =>
  [...pms, ...streams, ...huddles]
    .flatMap((one: Json) => one.unread_message_ids as number[])
    .sort((a: number, b: number) => a - b);

/** A client's count: the register's unread messages, plus the events after it. */
function counted(state: Json, events: Json[]): number[] {
  const unread = new Set(unreadIds(state.unread_msgs));
  for (const event of events) {
    if (event.type === 'message' && !event.flags.includes('read')) unread.add(event.message.id);
    if (event.type === 'update_message_flags' && event.flag === 'read')
      for (const id of event.messages) event.op === 'add' ? unread.delete(id) : unread.add(id);
    if (event.type === 'delete_message') for (const id of event.message_ids ?? [event.message_id]) unread.delete(id);
  }
  return [...unread].sort((a, b) => a - b);
}

/** The same sequence on every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test('unread messages of a register equal those of an older register plus the events since', async () => {
  const realm = await openRealm();
  const people = [realm.owner, realm.member, realm.member2, realm.guest];
  const ids: Record<string, number> = {};
  for (const [name, form] of [
    ['open', {}],
    ['closed', { invite_only: true }],
  ] as const) {
    const principals = people.map((person) => person.user_id);
    await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals, ...form });
    ids[name] = (await realm.owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
  }
  const client_capabilities = { bulk_message_deletion: true, empty_topic_name: true };
  const queues = await Promise.all(people.map((person) => person.queue({ client_capabilities })));
  const pick = random(20_260_101);
  const sent: number[] = [];
  const any = <T>(list: readonly T[]): T => list[pick(list.length)] as T;
  const steps: ((who: Client) => Promise<unknown>)[] = [
    async (who) => {
      const form = { type: 'channel', to: any(['open', 'closed']), topic: any(['a', 'B', 'b', '']), content: 'x' };
      const { body } = await who.post('/messages', form);
      if (body.id) sent.push(body.id);
    },
    async (who) => {
      const to = [any(people).user_id, any(people).user_id];
      sent.push((await who.ok('POST', '/messages', { type: 'direct', to, content: 'x', read_by_sender: true })).id);
    },
    (who) => who.post('/messages/flags', { messages: [any(sent)], op: any(['add', 'remove']), flag: 'read' }),
    (who) =>
      who.post('/messages/flags/narrow', {
        anchor: 'newest',
        num_before: 5,
        num_after: 0,
        narrow: [['channel', any(['open', 'closed'])]],
        op: any(['add', 'remove']),
        flag: 'read',
      }),
    (who) => who.post('/mark_topic_as_read', { stream_id: ids.open, topic_name: any(['a', 'general chat']) }),
    (who) => who.delete('/users/me/subscriptions', { subscriptions: ['open'] }),
    (who) => who.post('/users/me/subscriptions', { subscriptions: [{ name: 'open' }] }),
    () => realm.owner.delete(`/messages/${any(sent)}`),
  ];
  const often = [0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 5, 6, 6, 7];
  await steps[0]?.(realm.owner);
  for (let step = 0; step < 60; step++) await steps[any(often)]?.(any(people));
  for (const [index, person] of people.entries()) {
    const fresh = await person.ok('POST', '/register', { client_capabilities });
    const queue = queues[index];
    if (!queue) throw new Error('no queue');
    await queue.settle();
    const end = Math.max(...sent);
    const events = queue.seen.filter((event) => event.type !== 'message' || event.message.id <= end);
    expect(counted(queue.state, events), person.full_name).toEqual(
      unreadIds(fresh.unread_msgs).filter((id) => id <= end),
    );
    expect(fresh.unread_msgs.count).toBe(unreadIds(fresh.unread_msgs).length);
  }
});

test('the count of unread messages leaves out muted channels and topics, unless the topic is unmuted or followed', async () => {
  const { owner, member } = await openRealm();
  await owner.ok('PATCH', '/realm', { send_channel_events_messages: false });
  const idOf = async (name: string): Promise<number> => {
    const principals = [owner.user_id, member.user_id];
    await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name }], principals });
    return (await owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
  };
  const [open, muted] = [await idOf('open'), await idOf('muted')];
  const register = async () => (await member.ok('POST', '/register', {})).unread_msgs;
  const before = await register();
  const send = async (form: Json) => (await owner.ok('POST', '/messages', { content: 'x', ...form })).id;
  for (const to of [open, muted])
    for (const topic of ['plain', 'Quiet', 'Loud', 'Followed']) await send({ type: 'channel', to, topic });
  await send({ type: 'direct', to: [member.user_id] });
  const counted = async () => {
    const now = await register();
    return [now.count - before.count, unreadIds(now).length - unreadIds(before).length];
  };
  await expect.poll(counted).toEqual([9, 9]);
  await member.ok('PATCH', `/users/me/subscriptions/${muted}`, { property: 'is_muted', value: true });
  await expect.poll(counted).toEqual([5, 9]);
  const prefer = (stream_id: number, topic: string, visibility_policy: number) =>
    member.ok('POST', '/user_topics', { stream_id, topic, visibility_policy });
  await prefer(muted, 'loud', 2);
  await prefer(muted, 'followed', 3);
  await prefer(open, 'quiet', 1);
  await expect.poll(counted).toEqual([6, 9]);
});
