import { type Client, connected, copyRow, countOf, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let channelId: number;
beforeAll(async () => {
  realm = await openRealm();
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'large' }],
    principals: [realm.owner, realm.member, realm.member2, realm.guest].map((who) => who.user_id),
  });
  channelId = (await realm.owner.ok('GET', '/get_stream_id', { stream: 'large' })).stream_id;
});

const send = async (topic: string): Promise<number> =>
  (await realm.owner.ok('POST', '/messages', { type: 'channel', to: channelId, topic, content: 'x' })).id;
/** Ids of the copies begin above those of all other messages. */
const firstCopy = 1_000_000_000;
async function topicOf(count: number, topic: string, from: number): Promise<number> {
  const id = await send(topic);
  const where = `realm_id = ${realm.id} AND id = ${id}`;
  await copyRow({ table: 'messaging.message', where }, count - 1, { id: `${from - 1} + n` });
  return id;
}
const move = (who: Client, id: number, topic: string, propagate_mode: string) =>
  who.patch(`/messages/${id}`, { topic, propagate_mode });
const editsOf = (): Promise<number> => countOf('messaging.message_edit', `realm_id = ${realm.id}`);

test('a topic with more than 50,000 messages cannot be moved in one request, but in parts from its end', async () => {
  const id = await topicOf(50_001, 'huge', firstCopy);
  const before = await editsOf();
  const refused = await move(realm.guest, id, '✔ huge', 'change_all');
  expect([refused.status, refused.body.code]).toEqual([400, 'BAD_REQUEST']);
  expect(refused.body.msg).toBe(
    'A request can move at most 50000 messages, and this topic has more. Move its latest messages first.',
  );
  expect(await editsOf()).toBe(before);
  const queue = await realm.member.queue();
  await realm.member2.ok('PATCH', `/messages/${firstCopy + 49_997}`, {
    topic: 'latest',
    propagate_mode: 'change_later',
  });
  const event = await queue.next(({ type }) => type === 'update_message');
  expect(event.message_ids).toEqual([49_997, 49_998, 49_999].map((n) => firstCopy + n));
});

test('moving a large topic repeatedly is rate-limited for the guest who does it, but not for others', async () => {
  const [id, small] = [await topicOf(40_000, 'large', 2 * firstCopy), await send('small')];
  const queue = await realm.member.queue();
  expect((await move(realm.guest, id, '✔ large', 'change_all')).status).toBe(200);
  const event = await queue.next(({ type }) => type === 'update_message');
  expect(event.message_ids).toHaveLength(40_000);
  const edits = await editsOf();
  for (const [other, topic] of [
    [id, 'large'],
    [small, '✔ small'],
  ] as const) {
    const refused = await move(realm.guest, other, topic, 'change_all');
    expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    expect(refused.body['retry-after']).toBeGreaterThan(0);
    // 40,000 messages are those of four minutes; one is free.
    expect(refused.body['retry-after']).toBeLessThanOrEqual(180);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect(await editsOf()).toBe(edits);
  expect((await move(realm.guest, small, '✔ small', 'change_one')).status).toBe(200);
  expect((await move(realm.member, small, 'small', 'change_all')).status).toBe(200);
});

test('a move with more than 25,000 events is rejected completely, and a smaller one delivers them in order', async () => {
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'closed' }],
    principals: [realm.owner.user_id],
    invite_only: true,
  });
  const target = (await realm.owner.ok('GET', '/get_stream_id', { stream: 'closed' })).stream_id;
  // The subscribers of the old channel lose the messages: one event for each message.
  const take = (id: number) =>
    realm.owner.patch(`/messages/${id}`, { stream_id: target, propagate_mode: 'change_all' });
  const inTarget = (): Promise<number> =>
    countOf(
      'messaging.message',
      `realm_id = ${realm.id} AND channel_id = ${target} AND topic = 'announced' AND sender_id = ${realm.owner.user_id}`,
    );
  const ofTopic = `realm_id = ${realm.id} AND topic = 'announced'`;
  const id = await topicOf(25_001, 'announced', 3 * firstCopy);
  const editsBefore = await editsOf();
  const announced = (): Promise<number> =>
    countOf('log.event', `realm_id = ${realm.id} AND type IN ('update_message', 'delete_message')`);
  const before = await announced();
  const refused = await take(id);
  expect([refused.status, refused.body.code, refused.body.msg]).toEqual([
    413,
    'REQUEST_TOO_LARGE',
    'The request changes too much at once',
  ]);
  expect([await inTarget(), await editsOf(), await announced()]).toEqual([0, editsBefore, before]);

  // Leaves room for other events of the unit: the move, the notices and the first message of the channel.
  await connected((client) =>
    client.query(`DELETE FROM messaging.message WHERE ${ofTopic} AND id >= ${3 * firstCopy + 24_900}`),
  );
  const queue = await realm.member.queue({ event_types: ['delete_message'] });
  expect((await take(id)).status).toBe(200);
  expect(await inTarget()).toBe(24_901);
  await queue.next(({ message_id }) => message_id === 3 * firstCopy + 24_899);
  const seen = queue.seen.map(({ message_id }) => message_id);
  expect(seen).toEqual([id, ...Array.from({ length: 24_900 }, (_, n) => 3 * firstCopy + n)]);
});

test('a large topic of a protected history can be moved regardless of the number of former subscribers', async () => {
  // A realm of its own, because the owner of the other one has used up the allowance of moves.
  const { id: realmId, owner, member } = await openRealm();
  const protectedChannel = async (name: string): Promise<number> => {
    const subscribers = [owner.user_id, member.user_id];
    const isProtected = { invite_only: true, history_public_to_subscribers: false };
    return (await owner.ok('POST', '/channels/create', { name, subscribers, ...isProtected })).id;
  };
  const [from, to] = [await protectedChannel('before'), await protectedChannel('after')];
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: from, topic: 'protected', content: 'x' });
  const ofMessage = `realm_id = ${realmId} AND id = ${id}`;
  await copyRow({ table: 'messaging.message', where: ofMessage }, 19_999, { id: `${4 * firstCopy - 1} + n` });
  const ofPeriod = `realm_id = ${realmId} AND user_id = ${member.user_id} AND channel_id = ${from}`;
  const periods = { table: 'messaging.subscription_period', where: ofPeriod };
  await copyRow(periods, 20_000, { user_id: `${firstCopy} + n` });
  const queue = await member.queue({ event_types: ['update_message'] });
  const moved = await owner.patch(`/messages/${id}`, { stream_id: to, propagate_mode: 'change_all' });
  expect(moved.status).toBe(200);
  expect((await queue.next(() => true)).message_ids).toHaveLength(20_000);
});

test('a message with the maximum of edits can be moved, alone and with its topic, but not edited', async () => {
  const { id: realmId, owner, member } = await openRealm();
  const { id: to } = await owner.ok('POST', '/channels/create', { name: 'edited', subscribers: [member.user_id] });
  const { id } = await member.ok('POST', '/messages', { type: 'channel', to, topic: 'edited', content: 'x' });
  const { id: later } = await member.ok('POST', '/messages', { type: 'channel', to, topic: 'moved', content: 'x' });
  await member.ok('PATCH', `/messages/${id}`, { content: 'y' });
  const where = `realm_id = ${realmId} AND message_id = ${id}`;
  await copyRow({ table: 'messaging.message_edit', where }, 999, {});
  expect((await move(member, id, 'moved', 'change_one')).status).toBe(200);
  expect((await move(member, id, 'again', 'change_later')).status).toBe(200);
  const topicOfMessage = async (one: number) => (await member.ok('GET', `/messages/${one}`)).message.subject;
  expect([await topicOfMessage(id), await topicOfMessage(later)]).toEqual(['again', 'again']);
  expect(await countOf('messaging.message_edit', where)).toBe(1_002);
  const edit = await member.patch(`/messages/${id}`, { content: 'z' });
  expect(edit.body.msg).toBe('Too many edits of a message (limit: 1000)');
});

test('the history of a message that was moved 1,000 times keeps the last mover, and its author can edit it', async () => {
  const { id: realmId, owner, member, member2 } = await openRealm();
  const subscribers = [member.user_id, member2.user_id];
  const { id: to } = await owner.ok('POST', '/channels/create', { name: 'moved', subscribers });
  const { id } = await member.ok('POST', '/messages', { type: 'channel', to, topic: 'first', content: 'x' });
  expect((await move(member2, id, 'second', 'change_one')).status).toBe(200);
  const where = `realm_id = ${realmId} AND message_id = ${id}`;
  await copyRow({ table: 'messaging.message_edit', where }, 999, {});
  const newest = async () => (await member.ok('GET', `/messages/${id}`)).message.edit_history[0];
  expect((await move(owner, id, 'third', 'change_all')).status).toBe(200);
  expect(await newest()).toMatchObject({ user_id: owner.user_id, prev_topic: 'first', topic: 'third' });
  expect((await move(member2, id, 'fourth', 'change_one')).status).toBe(200);
  expect(await newest()).toMatchObject({ user_id: member2.user_id, prev_topic: 'first', topic: 'fourth' });
  expect(await countOf('messaging.message_edit', where)).toBe(1_000);
  await member.ok('PATCH', `/messages/${id}`, { content: 'y' });
  expect(await newest()).toMatchObject({ user_id: member.user_id, prev_content: 'x' });
  expect(await countOf('messaging.message_edit', where)).toBe(1_001);
});

test('a move that is rejected after locking its messages writes no history but counts towards the rate limit', async () => {
  const { id: realmId, owner, member } = await openRealm();
  const subscribers = [owner.user_id];
  const { id: from } = await owner.ok('POST', '/channels/create', { name: 'from', subscribers });
  const { id: to } = await owner.ok('POST', '/channels/create', { name: 'to', subscribers, invite_only: true });
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: from, topic: 'starred', content: 'x' });
  const where = `realm_id = ${realmId} AND id = ${id}`;
  await copyRow({ table: 'messaging.message', where }, 25_000, { id: `${5 * firstCopy - 1} + n` });
  // The member loses a single message. That is known only when all are locked.
  await member.ok('POST', '/messages/flags', { messages: [5 * firstCopy + 7], op: 'add', flag: 'starred' });
  /** The sequence keeps the numbers of rows that were rolled back. */
  const historyRows = () =>
    connected(async (client) => {
      const { rows } = await client.query(
        "SELECT nextval(pg_get_serial_sequence('messaging.message_edit', 'id'))::int AS n",
      );
      return rows[0].n as number;
    });
  const before = await historyRows();
  const take = () => owner.patch(`/messages/${id}`, { stream_id: to, propagate_mode: 'change_all' });
  const refused = await take();
  expect([refused.status, refused.body.code]).toEqual([413, 'REQUEST_TOO_LARGE']);
  expect((await historyRows()) - before).toBeLessThan(25_000);
  const again = await take();
  expect([again.status, again.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
});
