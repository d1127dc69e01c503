import { type Answer, Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { channel } from '../channels/setting.ts';
import { uploadTo } from '../upload.ts';

let realm: Realm;
let at: number;
beforeAll(async () => {
  realm = await openRealm();
  at = await channel(realm.owner, [realm.owner, realm.member]);
  await realm.owner.ok('POST', '/messages', { type: 'channel', to: at, topic: 'known', content: 'first' });
});

/** Makes a change and sends a request while messaging applies no events. It applies events again after `waitMs`. */
const askBefore = <C>(change: () => Promise<C>, ask: (changed: C) => Promise<Answer>, waitMs = 500): Promise<Answer> =>
  connected(async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM messaging.consumer WHERE realm_id = $1 FOR UPDATE', [realm.id]);
    const answered = ask(await change());
    await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, waitMs))]);
    await holder.query('COMMIT');
    return answered;
  });
const sendBefore = (change: () => Promise<unknown>, form: object): Promise<Answer> =>
  askBefore(change, () => realm.member.post('/messages', { content: 'hello', ...form }));
const toChannel = () => ({ type: 'channel', to: at, topic: 'known' });
/** The first message keeps what decides sends in the caches of messaging. */
const warm = () => realm.member.ok('POST', '/messages', { ...toChannel(), content: 'warm' });

test('a message to a user whose deactivation was answered is refused', async () => {
  const friend = await realm.person();
  const form = { type: 'direct', to: [friend.user_id] };
  await realm.member.ok('POST', '/messages', { ...form, content: 'before' });
  const { status, body } = await sendBefore(() => realm.owner.ok('DELETE', `/users/${friend.user_id}`), form);
  expect([status, body.msg]).toEqual([400, `'${friend.email}' is no longer using this server.`]);
});

test('a scheduled message is sent to a user whose reactivation messaging applies late', async () => {
  const [author, friend] = [await realm.person(), await realm.person()];
  const form = { type: 'direct', to: [friend.user_id], content: 'later' };
  const at = Math.floor(Date.now() / 1_000) + 3_600;
  await author.ok('POST', '/scheduled_messages', { ...form, scheduled_delivery_timestamp: at });
  await realm.owner.ok('DELETE', `/users/${friend.user_id}`);
  expect((await author.send('POST', '/messages', form)).status).toBe(400);
  const scheduled = async () => (await author.ok('GET', '/scheduled_messages')).scheduled_messages as Json[];
  const makeDue = () =>
    connected((client) =>
      client.query('UPDATE messaging.scheduled_message SET due_at = now() WHERE realm_id = $1 AND sender_id = $2', [
        realm.id,
        author.user_id,
      ]),
    );
  await askBefore(
    () => realm.owner.ok('POST', `/users/${friend.user_id}/reactivate`),
    async () => {
      await makeDue();
      const isEnded = async () => (await scheduled()).every(({ failed }) => failed);
      await expect.poll(isEnded).toBe(true);
      return author.send('GET', '/scheduled_messages', {});
    },
    4_000,
  );
  expect(await scheduled()).toEqual([]);
});

test.each<[string, string, () => Promise<unknown>]>([
  ['name', 'sender_full_name', () => realm.member.ok('PATCH', '/settings', { full_name: 'Renamed Member' })],
  ['picture', 'avatar_url', () => uploadTo(realm.member, '/users/me/avatar')],
])('a message shows the changed %s of its sender', async (_, field, change) => {
  await warm();
  const queue = await realm.owner.queue({ event_types: ['message'] });
  const { body } = await sendBefore(change, toChannel());
  const { message } = await queue.next((event: Json) => event.message.id === body.id);
  const { user } = await realm.owner.ok('GET', `/users/${realm.member.user_id}`, { client_gravatar: false });
  expect(message[field]).toBe(user[field === 'avatar_url' ? field : 'full_name']);
});

test('a message to a channel that its sender muted unmutes the topic', async () => {
  await warm();
  const mute = { stream_id: at, property: 'is_muted', value: true };
  const { body } = await sendBefore(
    () => realm.member.ok('POST', '/users/me/subscriptions/properties', { subscription_data: [mute] }),
    toChannel(),
  );
  expect(body.automatic_new_visibility_policy).toBe(2);
});

describe('the former owner of a bot that was given away before messaging applies it', () => {
  const bots = () => ({ former: realm.member, next: realm.member2 });
  async function botOfFormer(short_name: string): Promise<Client> {
    const { former } = bots();
    const { user_id, api_key } = await former.ok('POST', '/bots', { full_name: short_name, short_name });
    return new Client(realm.owner, {
      user_id,
      api_key,
      full_name: short_name,
      email: `${short_name}-bot@${realm.host}`,
    });
  }
  /** Returns the bot with its new key. */
  async function giveAway(bot: Client): Promise<Client> {
    const { next } = bots();
    await realm.owner.ok('PATCH', `/bots/${bot.user_id}`, { bot_owner_id: next.user_id });
    const { api_key } = await next.ok('GET', `/bots/${bot.user_id}/api_key`);
    return new Client(realm.owner, { user_id: bot.user_id, api_key, full_name: bot.full_name, email: bot.email });
  }

  test('lends the bot no access to a private channel', async () => {
    const { former } = bots();
    const bot = await botOfFormer('given');
    const to = await channel(realm.owner, [former], { invite_only: true });
    const form = { type: 'channel', to, topic: 't', content: 'hello' };
    await bot.ok('POST', '/messages', form);
    const { status, body } = await askBefore(
      () => giveAway(bot),
      (given) => given.post('/messages', form),
    );
    expect([status, body.code]).toEqual([400, 'STREAM_DOES_NOT_EXIST']);
  });

  test('does not delete its messages', async () => {
    const { former } = bots();
    const bot = await botOfFormer('deleted');
    const { id } = await bot.ok('POST', '/messages', { ...toChannel(), content: 'hello' });
    const { status } = await askBefore(
      () => giveAway(bot),
      () => former.send('DELETE', `/messages/${id}`),
      4_000,
    );
    expect(status).toBe(400);
    expect((await bots().next.delete(`/messages/${id}`)).status).toBe(200);
  });
});

test('typing of a user whom messaging does not know for longer than a request waits for copies is announced', async () => {
  const { owner, member } = realm;
  const queue = await member.queue({ event_types: ['typing'] });
  const addBot = async (): Promise<Client> => {
    const { user_id, api_key } = await owner.ok('POST', '/bots', { full_name: 'New bot', short_name: 'new' });
    const { user } = await owner.ok('GET', `/users/${user_id}`);
    return new Client(owner, { user_id, api_key, email: user.email, full_name: user.full_name });
  };
  const { status } = await askBefore(
    addBot,
    (bot) => bot.send('POST', '/typing', { op: 'start', to: [member.user_id] }),
    4_000,
  );
  expect(status).toBe(200);
  expect((await queue.next(({ type }: Json) => type === 'typing')).sender.email).toMatch(/^new-bot@/);
});

test.each([500, 4_000])(
  'a register shows unread messages of a subscription that messaging applies %d ms later',
  async (waitMs) => {
    const { owner } = realm;
    const reader = await realm.person();
    let id = 0;
    const { status, body } = await askBefore(
      async () => {
        await owner.ok('POST', '/users/me/subscriptions', {
          subscriptions: [{ name: (await owner.ok('GET', `/streams/${at}`)).stream.name }],
          principals: [reader.user_id],
        });
        ({ id } = await owner.ok('POST', '/messages', { ...toChannel(), content: 'news' }));
      },
      () => reader.send('POST', '/register', {}),
      waitMs,
    );
    expect(status).toBe(200);
    expect(body.subscriptions.map((channel: Json) => channel.stream_id)).toContain(at);
    expect(body.unread_msgs.streams.flatMap((listed: Json) => listed.unread_message_ids)).toContain(id);
    expect(body.last_event_id).toBe(-1);
  },
);

describe('when messaging applies late that a user switched the synchronization of drafts off and on', () => {
  const draft = (content: string) => ({ type: 'private', to: [realm.owner.user_id], topic: '', content });
  const person = async (): Promise<{ writer: Client; old: number }> => {
    const writer = await realm.person();
    const { ids } = await writer.ok('POST', '/drafts', { drafts: [draft('old')] });
    return { writer, old: ids[0] };
  };
  const askAfterSwitch = (writer: Client, ask: () => Promise<Answer>): Promise<Answer> =>
    askBefore(
      async () => {
        for (const enable_drafts_synchronization of [false, true])
          await writer.ok('PATCH', '/settings', { enable_drafts_synchronization });
      },
      ask,
      4_000,
    );

  test('a draft that is stored then is kept', async () => {
    const { writer } = await person();
    const { status, body } = await askAfterSwitch(writer, () =>
      writer.send('POST', '/drafts', { drafts: [draft('new')] }),
    );
    expect(status).toBe(200);
    const { drafts } = await writer.ok('GET', '/drafts');
    expect(drafts).toMatchObject([{ id: body.ids[0], content: 'new' }]);
  });

  test('a draft that was deleted by it cannot be edited', async () => {
    const { writer, old } = await person();
    const { status } = await askAfterSwitch(writer, () =>
      writer.send('PATCH', `/drafts/${old}`, { draft: draft('edited') }),
    );
    expect(status).toBe(404);
  });

  test('a register has no draft that disappears without an event', async () => {
    const { writer } = await person();
    const { status, body } = await askAfterSwitch(writer, () => writer.send('POST', '/register', {}));
    expect(status).toBe(200);
    expect(body.drafts).toEqual([]);
  });
});
