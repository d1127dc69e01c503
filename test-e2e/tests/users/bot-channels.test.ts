import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let count = 0;
beforeAll(async () => {
  realm = await openRealm();
  const { owner, member } = realm;
  await owner.ok('POST', '/channels/create', { name: 'Open', subscribers: [] });
  await owner.ok('POST', '/channels/create', { name: 'hidden', subscribers: [], invite_only: true });
  await owner.ok('POST', '/channels/create', { name: 'shared', subscribers: [member.user_id], invite_only: true });
});

const fields = ['default_sending_stream', 'default_events_register_stream'] as const;
const named = () => ({ full_name: `Bot ${++count}`, short_name: `bot${count}` });

test.each(fields)('%s is a channel that the caller may know', async (field) => {
  const { member, administrator } = realm;
  const { user_id } = await member.ok('POST', '/bots', named());
  for (const name of ['hidden', 'missing']) {
    const refusal = [400, 'BAD_REQUEST', `Invalid channel name '${name}'`];
    const form = { ...named(), [field]: name };
    for (const { status, body } of [await member.post('/bots', form), await member.patch(`/bots/${user_id}`, form)])
      expect([status, body.code, body.msg]).toEqual(refusal);
  }
  for (const name of ['Open', 'shared']) {
    expect((await member.ok('POST', '/bots', { ...named(), [field]: name }))[field]).toBe(name);
    expect((await member.ok('PATCH', `/bots/${user_id}`, { [field]: name }))[field]).toBe(name);
  }
  expect((await administrator.ok('PATCH', `/bots/${user_id}`, { [field]: 'hidden' }))[field]).toBe('hidden');
});

test.each(fields)('%s is stored as the channel is spelled, and an empty name removes it', async (field) => {
  const { member } = realm;
  const made = await member.ok('POST', '/bots', { ...named(), [field]: ' oPEN ' });
  expect(made[field]).toBe('Open');
  const change = (name: string) => member.ok('PATCH', `/bots/${made.user_id}`, { [field]: name });
  expect((await change('SHARED'))[field]).toBe('shared');
  expect((await change(''))[field]).toBe(null);
});

test('a bot that is given to another user does not reveal the names of its channels to them', async () => {
  const { owner, administrator, member, member2 } = realm;
  const defaults = { default_sending_stream: 'shared', default_events_register_stream: 'shared' };
  const { user_id } = await member.ok('POST', '/bots', { ...named(), ...defaults });
  const queues = [
    await member2.queue({ event_types: ['realm_bot'] }),
    await owner.queue({ event_types: ['realm_bot'] }),
  ];
  const given = await administrator.ok('PATCH', `/bots/${user_id}`, { bot_owner_id: member2.user_id });
  const none = { default_sending_stream: null, default_events_register_stream: null };
  expect(given).toMatchObject(none);
  const [added, changed] = await Promise.all([
    queues[0]?.next(({ op }) => op === 'add'),
    queues[1]?.next(({ bot }) => bot?.owner_id === member2.user_id),
  ]);
  expect([added?.bot, changed?.bot]).toMatchObject([none, none]);
  const { bots } = await member2.ok('GET', '/bots');
  expect(bots).toMatchObject([none]);
  const both = { bot_owner_id: member.user_id, default_sending_stream: 'Open' };
  expect((await administrator.ok('PATCH', `/bots/${user_id}`, both)).default_sending_stream).toBe('Open');
});
