import { type Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

let realm: Realm;
let owner: Client;

const create = async (name: string): Promise<number> => {
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name }],
    principals: [owner.user_id, realm.member.user_id],
  });
  return (await owner.ok('GET', '/get_stream_id', { stream: name })).stream_id;
};
const rename = (id: number, new_name: string): Promise<Json> => owner.ok('PATCH', `/streams/${id}`, { new_name });
const say = async (to: string | number, topic: string, content: string): Promise<number> =>
  (await owner.ok('POST', '/messages', { type: 'channel', to, topic, content })).id;
const page = async (who: Client, narrow: unknown): Promise<Json[]> =>
  (await who.ok('GET', '/messages', { anchor: 'newest', num_before: 50, num_after: 0, narrow })).messages;
const content = async (id: number): Promise<string> =>
  (await owner.ok('GET', `/messages/${id}`, { apply_markdown: true })).message.content;

beforeAll(async () => {
  realm = await openRealm();
  owner = realm.owner;
});

describe('a renamed channel', () => {
  let id: number;
  let first: number;
  beforeAll(async () => {
    id = await create('before');
    first = await say('before', 'topic', 'hello');
    await realm.member.ok('PATCH', '/users/me/subscriptions/muted_topics', {
      stream_id: id,
      topic: 'topic',
      op: 'add',
    });
    await rename(id, 'after');
  });

  test('has its new name in its messages', async () => {
    const [message] = await page(realm.member, [['id', first]]);
    expect(message).toMatchObject({ id: first, stream_id: id, display_recipient: 'after' });
  });

  test('is matched by a narrow with its new name, and not with its old one', async () => {
    const found = await page(realm.member, [['channel', 'after']]);
    expect(found.map((message) => message.id)).toContain(first);
    const old = await realm.member.get('/messages', {
      anchor: 'newest',
      num_before: 5,
      num_after: 0,
      narrow: [['channel', 'before']],
    });
    expect(old.body.code).toBe('BAD_NARROW');
  });

  test('is linked by its new name, and not by its old one', async () => {
    expect(await content(await say(id, 'topic', '#**after** #**before**'))).toMatch(
      /<a class="stream" data-stream-id="\d+" href="[^"]+">#after<\/a> #<strong>before<\/strong>|#after<\/a> #\*\*before\*\*/,
    );
  });

  test('has its new name in its muted topics', async () => {
    const { muted_topics } = await realm.member.ok('POST', '/register', { fetch_event_types: ['muted_topics'] });
    expect(muted_topics.map(([name, topic]: Json[]) => [name, topic])).toEqual([['after', 'topic']]);
  });

  test('frees its old name for another channel, and narrows and links distinguish the two', async () => {
    const other = await create('before');
    const said = await say('before', 'topic', 'in the other one');
    expect((await page(realm.member, [['channel', 'before']])).map((message) => message.id)).toContain(said);
    expect((await page(realm.member, [['channel', 'after']])).map((message) => message.id)).not.toContain(said);
    const [mine, theirs] = [await page(realm.member, [['id', first]]), await page(realm.member, [['id', said]])];
    expect([mine[0]?.display_recipient, theirs[0]?.display_recipient]).toEqual(['after', 'before']);
    const links = await content(await say(id, 'topic', '#**after** #**before**'));
    expect([...links.matchAll(/data-stream-id="(\d+)"/g)].map(([, channel]) => Number(channel))).toEqual([id, other]);
  });

  test('can exchange its name with another channel', async () => {
    const [one, two] = [await create('left'), await create('right')];
    const [inOne, inTwo] = [await say(one, 't', 'one'), await say(two, 't', 'two')];
    await rename(one, 'aside');
    await rename(two, 'left');
    await rename(one, 'right');
    const shown = await Promise.all([inOne, inTwo].map((message) => page(realm.member, [['id', message]])));
    expect(shown.map(([message]) => message?.display_recipient)).toEqual(['right', 'left']);
  });
});

test('the default channels of a bot follow a rename, and its owner receives an event', async () => {
  const id = await create('feed');
  const bot = await realm.member.ok('POST', '/bots', {
    full_name: 'Feeder',
    short_name: 'feeder',
    bot_type: 1,
    default_sending_stream: 'feed',
  });
  const queue = await realm.member.queue({ event_types: ['realm_bot'], fetch_event_types: ['realm_bot'] });
  await rename(id, 'river');
  const event = await queue.next(({ type, op }) => type === 'realm_bot' && op === 'update');
  expect(event.bot).toMatchObject({ user_id: bot.user_id, default_sending_stream: 'river' });
  const { realm_bots } = await realm.member.ok('POST', '/register', { fetch_event_types: ['realm_bot'] });
  const shown = realm_bots.find(({ user_id }: Json) => user_id === bot.user_id);
  expect(shown.default_sending_stream).toBe('river');

  // Another channel takes the freed name and gives it up again: the bot still refers to the first one.
  const other = await create('feed');
  await rename(other, 'lake');
  await rename(id, 'sea');
  await queue.next(
    ({ type, op, bot }) => type === 'realm_bot' && op === 'update' && bot.default_sending_stream === 'sea',
  );
  const told = queue.seen.flatMap(({ op, bot }) => (op === 'update' ? (bot.default_sending_stream ?? []) : []));
  expect(told).toEqual(['river', 'sea']);
});

test.each<[string, (user_id: number) => Promise<number>]>([
  [
    'changed',
    async (user_id) =>
      (await realm.member.send('PATCH', `/bots/${user_id}`, { default_sending_stream: 'harbour' })).status,
  ],
  [
    'created',
    async () => {
      const form = { full_name: 'Pilot', short_name: 'pilot', bot_type: 1, default_sending_stream: 'harbour' };
      return (await realm.member.send('POST', '/bots', form)).status;
    },
  ],
])('a bot that is %s while a rename is applied late keeps the newer channel', async (_, setDefault) => {
  const id = await create('harbour');
  const form = { bot_type: 1, default_sending_stream: 'harbour' };
  const { user_id } = await realm.member.ok('POST', '/bots', {
    ...form,
    full_name: `Docker ${id}`,
    short_name: `docker${id}`,
  });
  const asked = await connected(async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM users.consumer WHERE realm_id = $1 AND name = $2 FOR UPDATE', [
      realm.id,
      'bot-default-channels',
    ]);
    await rename(id, `quay ${id}`);
    await create('harbour');
    const answered = setDefault(user_id);
    await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 4_000))]);
    await holder.query('COMMIT');
    return answered;
  });
  expect(asked).toBe(200);
  const { bots } = await realm.member.ok('GET', '/bots');
  expect(bots.at(-1).default_sending_stream).toBe('harbour');
});

test('the default channel of a bot does not follow an archived channel whose name an active channel has', async () => {
  const archived = await create('press');
  await owner.ok('DELETE', `/streams/${archived}`);
  const active = await create('Press');
  const form = { full_name: 'Printer', short_name: 'printer', bot_type: 1, default_sending_stream: 'press' };
  await realm.member.ok('POST', '/bots', form);
  const queue = await realm.member.queue({ event_types: ['realm_bot'], fetch_event_types: [] });
  await rename(archived, 'old press');
  await rename(active, 'press');
  await rename(active, 'new press');
  const isUpdate = ({ op }: Json): boolean => op === 'update';
  await queue.next((event) => isUpdate(event) && event.bot.default_sending_stream === 'new press');
  const told = queue.seen.filter(isUpdate).map(({ bot }) => bot.default_sending_stream);
  expect(told).toEqual(['press', 'new press']);
});

test('the default channel of a bot does not follow a rename that its owner may not see', async () => {
  const principals = [owner.user_id];
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'plans' }],
    principals,
    invite_only: true,
  });
  const id = (await owner.ok('GET', '/get_stream_id', { stream: 'plans' })).stream_id;
  const form = { default_sending_stream: 'plans', default_events_register_stream: 'plans' };
  const { user_id } = await realm.member.ok('POST', '/bots', { full_name: 'Stranger', short_name: 'stranger' });
  await owner.ok('PATCH', `/bots/${user_id}`, form);
  await owner.ok('POST', '/bots', { ...form, full_name: 'Knower', short_name: 'knower' });
  const types = { event_types: ['realm_bot', 'message'], fetch_event_types: [] };
  const [theirs, owners] = [await realm.member.queue(types), await owner.queue(types)];
  await rename(id, 'merger');
  const isUpdate = ({ type, op }: Json): boolean => type === 'realm_bot' && op === 'update';
  expect((await owners.next(isUpdate)).bot).toMatchObject({ default_sending_stream: 'merger' });
  expect((await theirs.settle()).filter(isUpdate)).toEqual([]);
  const { bots } = await realm.member.ok('GET', '/bots');
  const named = bots.filter(({ full_name }: Json) => full_name === 'Stranger');
  expect(named.map((bot: Json) => [bot.default_sending_stream, bot.default_events_register_stream])).toEqual([
    ['plans', 'plans'],
  ]);
});
