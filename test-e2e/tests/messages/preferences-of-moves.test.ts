import { type Json, noticesSent, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { overlapping } from '../../overlapping.ts';
import { channel, openQuietRealm } from '../channels/setting.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openQuietRealm();
  at = await channel(realm.owner, [realm.owner, realm.member]);
});

const prefer = (topic: string, visibility_policy: number) =>
  realm.member.ok('POST', '/user_topics', { stream_id: at, topic, visibility_policy });
const policyOf = async (topic: string): Promise<number | undefined> => {
  const { user_topics } = await realm.member.ok('POST', '/register', { fetch_event_types: ['user_topic'] });
  return user_topics.find(({ topic_name }: Json) => topic_name === topic)?.visibility_policy;
};

let round = 0;
/** Moves a topic; before its commit the member sets a first preference for the new name. Returns the new name. */
async function moveWhile(policy: number, meanwhile: number): Promise<string> {
  let target = '';
  await overlapping(realm.id, async () => {
    const topic = `topic ${++round}`;
    target = `target ${round}`;
    const { id } = await realm.owner.ok('POST', '/messages', { type: 'channel', to: at, topic, content: 'x' });
    await prefer(topic, policy);
    await noticesSent(realm.id);
    const form = { topic: target, propagate_mode: 'change_one', send_notification_to_new_thread: false };
    return [() => prefer(target, meanwhile), () => realm.owner.ok('PATCH', `/messages/${id}`, form)];
  });
  return target;
}

test('a move keeps a more visible preference that a user set for the new topic before its commit', async () => {
  expect(await policyOf(await moveWhile(2, 3))).toBe(3);
});

test('a move announces the list of mutes of a user whose mute of the new topic it replaces', async () => {
  const queue = await realm.member.queue({ event_types: ['muted_topics'] });
  const topic = await moveWhile(3, 1);
  const lists = async (): Promise<boolean[]> => {
    await queue.poll(true);
    return queue.seen.map(({ muted_topics }) => muted_topics.some(([, name]: Json) => name === topic));
  };
  await expect.poll(async () => (await lists()).slice(-2)).toEqual([true, false]);
  expect(await policyOf(topic)).toBe(3);
});
