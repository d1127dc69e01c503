import { type Client, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { expectFreshStates, follower } from '../followers.ts';
import { follow, shown, stateOf } from './message-state.ts';

const keeping = { stateOf, apply: follow, comparable: shown };

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const steps = Number(process.env.MESSAGE_STATE_STEPS ?? 250);
const names = ['open', 'other', 'closed', 'shared'];
const topics = ['t1', 'T1', 't2', '', '✔ t2'];
const register = {
  event_types: ['message', 'update_message', 'delete_message', 'update_message_flags', 'user_topic'],
  fetch_event_types: ['message', 'update_message_flags', 'starred_messages', 'user_topic'],
  client_capabilities: { bulk_message_deletion: true, empty_topic_name: true },
};

/** The same sequence for the same seed. */
function random(from: number): <T>(choices: readonly T[]) => T {
  let state = from % 2_147_483_648;
  return (choices) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return choices[Math.floor((state / 2_147_483_648) * choices.length)] as (typeof choices)[number];
  };
}

test(`state plus events equals a fresh register for messages that are sent, moved, flagged and left (seed ${seed})`, async () => {
  const { owner, administrator, member, member2, guest } = await openRealm();
  const people = [owner, administrator, member, member2, guest];
  const pick = random(seed);
  const channels: number[] = [];
  for (const name of names) {
    await owner.ok('POST', '/users/me/subscriptions', {
      subscriptions: [{ name }],
      principals: people.map((person) => person.user_id),
      invite_only: name === 'closed' || name === 'shared',
      history_public_to_subscribers: name !== 'closed',
    });
    channels.push((await owner.ok('GET', '/get_stream_id', { stream: name })).stream_id);
  }
  const followers = await Promise.all(people.map((person) => follower(person, register, keeping)));

  const sent: number[] = [];
  const content = () => pick(['x', '@**all**', '@**topic**', `@**${pick(people).full_name}**`]);
  const mode = () => pick(['change_one', 'change_later', 'change_all']);
  const kinds: ((who: Client, id: number) => Promise<Json>)[] = [
    (who) =>
      who.post('/messages', {
        type: 'channel',
        to: pick(names),
        topic: pick(topics),
        content: content(),
        read_by_sender: pick([true, false]),
      }),
    (who) => who.post('/messages', { type: 'channel', to: pick(names), topic: pick(topics), content: content() }),
    (who) =>
      who.post('/messages', { type: 'direct', to: [pick(people).user_id, pick(people).user_id], content: content() }),
    (who, id) => who.patch(`/messages/${id}`, { topic: pick(topics), propagate_mode: mode() }),
    (who, id) =>
      who.patch(`/messages/${id}`, { stream_id: pick(channels), topic: pick(topics), propagate_mode: mode() }),
    (who, id) => who.patch(`/messages/${id}`, { content: content() }),
    (who, id) =>
      who.post('/messages/flags', { messages: [id], op: pick(['add', 'remove']), flag: pick(['read', 'starred']) }),
    (who, id) => who.post('/messages/flags', { messages: [id], op: pick(['add', 'remove']), flag: 'read' }),
    (_, id) => owner.delete(`/messages/${id}`),
    (who) =>
      who.post('/user_topics', {
        stream_id: pick(channels),
        topic: pick(topics),
        visibility_policy: pick([0, 1, 2, 3]),
      }),
    (who) => owner.delete('/users/me/subscriptions', { subscriptions: [pick(names)], principals: [who.user_id] }),
    (who) =>
      owner.post('/users/me/subscriptions', { subscriptions: [{ name: pick(names) }], principals: [who.user_id] }),
    (who) => who.post('/mark_stream_as_read', { stream_id: pick(channels) }),
  ];
  for (let step = 0; step < steps; step++) {
    const { status, body } = await pick(kinds)(pick(people), pick([1, ...sent]));
    expect(status).toBeLessThan(500);
    if (body.id !== undefined) sent.push(body.id);
  }

  await expectFreshStates(followers, keeping);
});
