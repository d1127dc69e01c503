import { type Client, copyRow, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** Each version of a history repeats the whole text, so moves of a long message would multiply it. */
let realm: Realm;
const mebibyte = 1024 * 1024;
const history = async (who: Client, id: number): Promise<Json[]> =>
  (await who.ok('GET', `/messages/${id}/history`)).message_history;

beforeAll(async () => {
  realm = await openRealm();
  await realm.guest.post('/users/me/subscriptions', { subscriptions: [{ name: 'long' }] });
  const principals = [realm.owner.user_id, realm.guest.user_id];
  await realm.owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'long' }], principals });
});

async function moved(content: string, times: number): Promise<number> {
  const { id } = await realm.guest.ok('POST', '/messages', { type: 'channel', to: 'long', topic: 'first', content });
  await realm.guest.ok('PATCH', `/messages/${id}`, { topic: 'last' });
  await copyRow(
    { table: 'messaging.message_edit', where: `realm_id = ${realm.id} AND message_id = ${id}` },
    times - 1,
    {
      prev_topic: "'topic ' || n",
    },
  );
  return id;
}

test('the history of a long message that was moved 1,000 times is limited to 4 MiB: the original and newest versions', async () => {
  const id = await moved(':a: '.repeat(2_500), 1_000);
  const versions = await history(realm.guest, id);
  const text = versions[0]?.rendered_content.length + versions[0]?.content.length;
  expect(text).toBeGreaterThan(100_000);
  const bytes = Buffer.byteLength(JSON.stringify(versions));
  expect(bytes).toBeGreaterThan(3.5 * mebibyte);
  expect(bytes).toBeLessThan(4.5 * mebibyte);
  expect(versions[0]).toMatchObject({ topic: 'first', user_id: realm.guest.user_id });
  expect(versions[0]).not.toHaveProperty('prev_topic');
  expect(versions.at(-1)?.prev_topic).toBe('topic 999');
});

test('the history of a short message that was moved 1,000 times is complete', async () => {
  expect((await history(realm.guest, await moved('short', 1_000))).length).toBe(1_001);
});
