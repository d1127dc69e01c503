import { connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { channel } from '../channels/setting.ts';

let realm: Realm;
let from: number;
let to: number;
beforeAll(async () => {
  realm = await openRealm();
  const { owner, member } = realm;
  [from, to] = [await channel(owner, [owner, member]), await channel(owner, [owner, member])];
  await owner.ok('PATCH', '/realm', {
    move_messages_within_stream_limit_seconds: 3_600,
    move_messages_between_streams_limit_seconds: 3_600,
  });
});

const send = async (topic: string): Promise<number> =>
  (await realm.member.ok('POST', '/messages', { type: 'channel', to: from, topic, content: 'x' })).id;
/** A message that was sent two hours ago. */
async function sendEarly(topic: string): Promise<number> {
  const id = await send(topic);
  await connected((client) =>
    client.query(
      "UPDATE messaging.message SET sent_at = sent_at - interval '2 hours' WHERE realm_id = $1 AND id = $2",
      [realm.id, id],
    ),
  );
  return id;
}
const move = async (id: number, form: Json): Promise<Json> => (await realm.member.patch(`/messages/${id}`, form)).body;

test('a message that is too old to be moved names what may no longer change', async () => {
  const id = await sendEarly('one');
  for (const [form, what] of [
    [{ topic: 'new' }, 'topic'],
    [{ stream_id: to }, 'channel'],
  ] as const)
    expect(await move(id, form)).toMatchObject({
      code: 'BAD_REQUEST',
      msg: `The time limit for editing this message's ${what} has passed`,
    });
});

test('a topic with messages that are too old is not moved as a whole', async () => {
  const early = await sendEarly('some');
  const late = await send('some');
  expect(await move(late, { topic: 'new', propagate_mode: 'change_all' })).toMatchObject({
    code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    first_message_id_allowed_to_move: late,
    total_messages_in_topic: 2,
    total_messages_allowed_to_move: 1,
  });
  await realm.owner.ok('DELETE', `/messages/${late}`);
  for (const form of [{ topic: 'new' }, { stream_id: to }])
    expect(await move(early, { ...form, propagate_mode: 'change_all' })).toMatchObject({
      code: 'BAD_REQUEST',
      msg: 'The time limit for moving this topic has passed.',
    });
});
