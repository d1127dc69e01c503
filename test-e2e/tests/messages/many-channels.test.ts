import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

// More open channels than a read lists: each message is then looked up by its channel.
const many = 260;

let realm: Realm;
const sent: Record<string, number> = {};

const create = (who: Client, names: readonly string[], principals: readonly Client[], form: object = {}) =>
  who.ok('POST', '/users/me/subscriptions', {
    subscriptions: names.map((name) => ({ name })),
    principals: principals.map((one) => one.user_id),
    ...form,
  });
const say = async (who: Client, to: string, content: string): Promise<number> =>
  (await who.ok('POST', '/messages', { type: 'channel', to, topic: 't', content })).id;
/** The sent messages in a page. Notices in new channels are left out. */
const found = async (who: Client, form: Record<string, unknown>): Promise<number[]> => {
  const page = await who.ok('GET', '/messages', { anchor: 'newest', num_before: 1_000, num_after: 0, ...form });
  return page.messages.map((message: Json) => message.id).filter((id: number) => Object.values(sent).includes(id));
};
const of = (...names: string[]): number[] => names.map((name) => sent[name] as number);
const everything = (): number[] => Object.values(sent);

beforeAll(async () => {
  realm = await openRealm();
  const { owner, member, guest } = realm;
  await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  const names = Array.from({ length: many }, (_, index) => `open ${index}`);
  await create(owner, names.slice(0, 150), [owner]);
  await create(owner, names.slice(150), [owner]);
  await create(owner, ['mine'], [owner, member]);
  await create(owner, ['web'], [owner], { is_web_public: true });
  await create(owner, ['shut'], [owner], { invite_only: true });
  await create(owner, ['shared'], [owner, guest], { invite_only: true });
  sent.unread = await say(owner, 'open 0', 'nobody else was here');
  sent.mentioning = await say(owner, 'open 1', 'nothing');
  sent.mine = await say(owner, 'mine', 'received');
  sent.web = await say(owner, 'web', 'for everybody');
  sent.shut = await say(owner, 'shut', 'for the owner');
  sent.shared = await say(owner, 'shared', 'for the guest');
  await member.ok('POST', '/messages/flags', { messages: of('mentioning'), op: 'add', flag: 'starred' });
});

test('a feed contains only received messages', async () => {
  expect(await found(realm.member, {})).toEqual(of('mine'));
  expect(await found(realm.guest, {})).toEqual(of('shared'));
});

test('messages of a public channel are found by its name, its ID and the flags of the reader', async () => {
  const { member } = realm;
  const { stream_id } = await member.ok('GET', '/get_stream_id', { stream: 'open 0' });
  expect(await found(member, { narrow: [['channel', 'OPEN 0']] })).toEqual(of('unread'));
  expect(await found(member, { narrow: [['channel', stream_id]] })).toEqual(of('unread'));
  expect(await found(member, { narrow: [['channel', String(stream_id)]] })).toEqual(of('unread'));
  expect(await found(member, { narrow: [['is', 'starred']] })).toEqual(of('mentioning'));
  expect(await found(member, { narrow: [['sender', realm.owner.user_id]] })).toEqual(of('mentioning', 'mine'));
});

test('a narrow with a channel ID beyond the valid range is rejected', async () => {
  const narrow = [['channel', 2 ** 40]];
  expect((await realm.member.get('/messages', { anchor: 0, num_before: 0, num_after: 1, narrow })).body).toMatchObject({
    code: 'BAD_NARROW',
  });
});

test('narrows of public and web-public channels find only channels that the reader may see', async () => {
  const { member, guest, spectator } = realm;
  const all = [['channels', 'public']];
  const web = [['channels', 'web-public']];
  expect(await found(member, { narrow: all })).toEqual(of('unread', 'mentioning', 'mine', 'web'));
  expect(await found(guest, { narrow: all })).toEqual([]);
  for (const reader of [member, guest, spectator]) expect(await found(reader, { narrow: web })).toEqual(of('web'));
  expect(await found(spectator, { narrow: [...web, ['channel', 'web']] })).toEqual(of('web'));
});

test('a request by message IDs returns the messages that the reader may read, with their channel names', async () => {
  const { member, guest, owner } = realm;
  const byId = async (reader: Client) => {
    const page = await reader.ok('GET', '/messages', { message_ids: everything() });
    return page.messages.map((message: Json) => message.display_recipient);
  };
  expect(await byId(member)).toEqual(['open 0', 'open 1', 'mine', 'web']);
  expect(await byId(guest)).toEqual(['web', 'shared']);
  expect(await byId(owner)).toEqual(['open 0', 'open 1', 'mine', 'web', 'shut', 'shared']);
});
