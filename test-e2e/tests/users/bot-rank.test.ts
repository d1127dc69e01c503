import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const refused = ({ status, body }: Json): Json => [status, body.code];
const bad = [400, 'BAD_REQUEST'];

let count = 0;
async function botOf(owner: Client, role?: number): Promise<Client> {
  const short_name = `rank${++count}`;
  const full_name = `Rank ${count}`;
  const made = await owner.ok('POST', '/bots', { full_name, short_name });
  if (role !== undefined) await owner.ok('PATCH', `/bots/${made.user_id}`, { role });
  const { api_key } = await owner.ok('GET', `/bots/${made.user_id}/api_key`);
  return new Client(realm.owner, { ...made, api_key, full_name, email: `${short_name}-bot@${realm.host}` });
}
const roleOf = async ({ user_id }: { user_id: number }): Promise<number> =>
  (await realm.guest.ok('GET', `/users/${user_id}`)).user.role;
const status = async (bot: Client): Promise<number> => (await bot.get('/users/me')).status;
const realmBots = async (who: Client): Promise<Json[]> =>
  (await who.ok('POST', '/register', { fetch_event_types: ['realm_bot'] })).realm_bots;

test('an administrator cannot read the key of a bot with the role of an owner, or change the bot', async () => {
  const { owner, administrator } = realm;
  const queue = await administrator.queue({ event_types: ['realm_bot', 'message'] });
  const bot = await botOf(owner, 100);
  const at = `/bots/${bot.user_id}`;
  for (const attempt of [
    administrator.get(`${at}/api_key`),
    administrator.post(`${at}/api_key/regenerate`),
    administrator.patch(at, { full_name: 'Taken Over' }),
    administrator.patch(at, { role: 400 }),
    administrator.patch(at, { bot_owner_id: administrator.user_id }),
    administrator.delete(at),
    administrator.patch(`/users/${bot.user_id}`, { full_name: 'Taken Over' }),
    administrator.patch(`/users/${bot.email}`, { role: 400 }),
  ])
    expect(refused(await attempt)).toEqual(bad);
  expect(await status(bot)).toBe(200);
  expect(JSON.stringify(await realmBots(administrator))).not.toContain(bot.api_key);
  expect(JSON.stringify(await queue.settle())).not.toContain(bot.api_key);
  await owner.ok('DELETE', at);
  expect(refused(await administrator.post(`/users/${bot.user_id}/reactivate`))).toEqual(bad);
  expect((await owner.get(`${at}/api_key`)).status).toBe(200);
});

test('a bot cannot get a higher role than its owner or the user who promotes it', async () => {
  const { owner, administrator, member } = realm;
  const bot = await botOf(member);
  for (const role of [100, 200, 300]) {
    for (const who of [owner, administrator, member]) {
      expect(refused(await who.patch(`/bots/${bot.user_id}`, { role }))).toEqual(bad);
      expect(refused(await who.patch(`/users/${bot.user_id}`, { role }))).toEqual(bad);
    }
  }
  const { user_id } = await botOf(owner);
  expect(refused(await administrator.patch(`/bots/${user_id}`, { role: 100 }))).toEqual(bad);
  expect(refused(await administrator.patch(`/users/${user_id}`, { role: 100 }))).toEqual(bad);
  expect(await roleOf({ user_id })).toBe(400);
  // A request that also changes the owner is checked against the new owner.
  const both = { role: 100, bot_owner_id: administrator.user_id };
  expect(refused(await owner.patch(`/bots/${user_id}`, both))).toEqual(bad);
  await owner.ok('PATCH', `/bots/${user_id}`, { role: 200, bot_owner_id: administrator.user_id });
  expect(await roleOf({ user_id })).toBe(200);
});

test('demoting a user also demotes their bots, even deactivated ones, and sends events', async () => {
  const person = await realm.person({ role: 'owner' });
  const [bot, sleeping] = [await botOf(person, 100), await botOf(person, 200)];
  await person.ok('DELETE', `/bots/${sleeping.user_id}`);
  const queue = await realm.member.queue({ event_types: ['realm_user', 'message'] });
  await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: 400 });
  const told = (await queue.settle()).filter(({ type }) => type === 'realm_user').map((event) => event.person);
  for (const { user_id } of [bot, sleeping]) expect(told).toContainEqual({ user_id, role: 400 });
  expect([await roleOf(bot), await roleOf(sleeping)]).toEqual([400, 400]);
  expect(refused(await bot.patch('/realm', { description: 'by a bot' }))).toEqual(bad);
  await realm.owner.ok('POST', `/users/${sleeping.user_id}/reactivate`);
  expect(await roleOf(sleeping)).toBe(400);
});

test('a guest who owns a bot may deactivate it, but not change it or renew its key', async () => {
  const person = await realm.person({ role: 'member' });
  const { user_id } = await botOf(person);
  await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: 600 });
  for (const { status, body } of [
    await person.patch(`/bots/${user_id}`, { full_name: 'Another name' }),
    await person.post(`/bots/${user_id}/api_key/regenerate`),
  ])
    expect([status, body.msg]).toEqual([400, 'Not allowed for guest users']);
  await person.ok('DELETE', `/bots/${user_id}`);
});

test('giving a bot to a user with a lower role demotes it and revokes the key of its former owner', async () => {
  const { owner, administrator, member, member2 } = realm;
  const bot = await botOf(owner, 100);
  const queue = await member.queue({ event_types: ['realm_bot'] });
  await owner.ok('PATCH', `/bots/${bot.user_id}`, { bot_owner_id: member.user_id });
  expect([await roleOf(bot), await status(bot)]).toEqual([400, 401]);
  const { api_key } = await member.ok('GET', `/bots/${bot.user_id}/api_key`);
  await queue.next((event) => event.op === 'update' && event.bot.api_key === api_key);

  // A member transfers a bot to an owner, who promotes it later.
  const planted = await botOf(member2);
  await member2.ok('PATCH', `/bots/${planted.user_id}`, { bot_owner_id: owner.user_id });
  await owner.ok('PATCH', `/bots/${planted.user_id}`, { role: 100 });
  expect(await status(planted)).toBe(401);
  expect(refused(await administrator.get(`/bots/${planted.user_id}/api_key`))).toEqual(bad);
});

test('a key that an administrator read is revoked when the bot gets a higher role or they are demoted', async () => {
  const { owner } = realm;
  const administrator = await realm.person({ role: 'administrator' });
  const read = async (bot: Client): Promise<void> => {
    const { api_key } = await administrator.ok('GET', `/bots/${bot.user_id}/api_key`);
    bot.api_key = api_key;
  };
  const [raised, kept, ended, last] = [
    await botOf(owner),
    await botOf(realm.member),
    await botOf(owner, 200),
    await botOf(realm.member),
  ];
  for (const bot of [raised, kept, ended]) await read(bot);
  await owner.ok('PATCH', `/bots/${raised.user_id}`, { role: 100 });
  expect([await status(raised), await status(kept), await status(ended)]).toEqual([401, 200, 200]);
  const { api_key } = await administrator.ok('POST', `/bots/${last.user_id}/api_key/regenerate`);
  last.api_key = api_key;
  await owner.ok('PATCH', `/users/${administrator.user_id}`, { role: 400 });
  expect([await status(ended), await status(kept), await status(last)]).toEqual([401, 401, 401]);
  expect((await realm.member.ok('GET', '/bots')).bots.map((bot: Json) => bot.api_key)).not.toContain(kept.api_key);
});

test('a key that an administrator read is revoked when they are deactivated', async () => {
  const administrator = await realm.person({ role: 'administrator' });
  const bot = await botOf(realm.member);
  await administrator.ok('GET', `/bots/${bot.user_id}/api_key`);
  expect(await status(bot)).toBe(200);
  await realm.owner.ok('DELETE', `/users/${administrator.user_id}`);
  expect(await status(bot)).toBe(401);
  expect((await realm.member.ok('GET', '/bots')).bots.map((each: Json) => each.api_key)).not.toContain(bot.api_key);
});

test('a key that a bot regenerated is revoked when an administrator who read an earlier key is demoted', async () => {
  const administrator = await realm.person({ role: 'administrator' });
  const bot = await botOf(realm.owner, 200);
  bot.api_key = (await administrator.ok('GET', `/bots/${bot.user_id}/api_key`)).api_key;
  bot.api_key = (await bot.ok('POST', '/users/me/api_key/regenerate')).api_key;
  expect(await status(bot)).toBe(200);
  await realm.owner.ok('PATCH', `/users/${administrator.user_id}`, { role: 400 });
  expect(await status(bot)).toBe(401);
});

test('a bot cannot read the key of another bot', async () => {
  const [bot, other] = [await botOf(realm.owner, 200), await botOf(realm.owner, 200)];
  expect(refused(await bot.get(`/bots/${other.user_id}/api_key`))).toEqual(bad);
  expect(refused(await bot.post(`/bots/${other.user_id}/api_key/regenerate`))).toEqual(bad);
  expect(await status(other)).toBe(200);
});

test('only its owner sees the key of a bot in lists and events', async () => {
  const { member, administrator } = realm;
  const own = await member.queue({ event_types: ['realm_bot'] });
  const others = await administrator.queue({ event_types: ['realm_bot', 'message'] });
  const bot = await botOf(member);
  expect((await own.next((event) => event.op === 'add')).bot.api_key).toBe(bot.api_key);
  const { api_key } = await member.ok('POST', `/bots/${bot.user_id}/api_key/regenerate`);
  await own.next((event) => event.op === 'update' && event.bot.api_key === api_key);
  const seen = JSON.stringify([await others.settle(), await realmBots(administrator)]);
  expect(seen).toContain(bot.email);
  expect(seen).not.toContain(bot.api_key);
  expect(seen).not.toContain(api_key);
  const newcomer = await realm.person();
  const queue = await newcomer.queue({ event_types: ['realm_bot', 'message'] });
  await realm.owner.ok('PATCH', `/users/${newcomer.user_id}`, { role: 200 });
  const told = JSON.stringify(await queue.settle());
  expect(told).toContain(bot.email);
  expect(told).not.toContain(api_key);
});

test('an administrator who is deactivated while they read the key of a bot does not get a valid key', async () => {
  const bot = await botOf(realm.owner);
  for (let round = 0; round < 4; round++) {
    const administrator = await realm.person({ role: 'administrator' });
    const read = () => administrator.get(`/bots/${bot.user_id}/api_key`);
    const first = [read(), read()];
    const ending = realm.owner.ok('DELETE', `/users/${administrator.user_id}`);
    const answers = await Promise.all([...first, ...Array.from({ length: 8 }, read)]);
    await ending;
    const keys = new Set(answers.filter((answer) => answer.status === 200).map(({ body }) => body.api_key));
    for (const api_key of keys)
      expect((await new Client(realm.owner, { ...bot, api_key }).get('/users/me')).status).toBe(401);
  }
});

test('concurrent promotion of a bot and demotion of its owner do not leave the bot above its owner', async () => {
  for (let round = 0; round < 10; round++) {
    const person = await realm.person({ role: 'owner' });
    const bot = await botOf(person);
    await Promise.all([
      realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: round % 2 ? 400 : 200 }),
      person.patch(`/bots/${bot.user_id}`, { role: 100 }),
      realm.owner.patch(`/users/${bot.user_id}`, { role: 200 }),
    ]);
    expect(await roleOf(bot)).toBeGreaterThanOrEqual(await roleOf(person));
  }
});

test('only the owner of its bot sees the token of an outgoing webhook', async () => {
  const { owner, administrator, member } = realm;
  const types = { event_types: ['realm_bot', 'message'] };
  const [queue, own] = [await administrator.queue(types), await member.queue(types)];
  const hook = { bot_type: 3, payload_url: 'https://hooks.example/in', interface_type: 1 };
  const { user_id } = await member.ok('POST', '/bots', { full_name: 'Hook', short_name: 'hook', ...hook });
  await member.ok('PATCH', `/bots/${user_id}`, { service_payload_url: 'https://hooks.example/other' });
  const tokenIn = (bots: Json[]): string[] => bots.flatMap((bot) => (bot.services ?? []).map((one: Json) => one.token));
  const listed = async (who: Client) => tokenIn((await realmBots(who)).filter((bot) => bot.user_id === user_id));
  const [token] = await listed(member);
  expect(token).toMatch(/^\w{32}$/);
  const botsOf = (events: Json[]): Json[] => events.filter(({ type }) => type === 'realm_bot').map(({ bot }) => bot);
  expect(tokenIn(botsOf(await own.settle()))).toEqual([token, token]);
  expect(tokenIn(botsOf(await queue.settle()))).toEqual(['', '']);
  expect(await listed(administrator)).toEqual(['']);
  expect(await listed(owner)).toEqual(['']);
});

test('an outgoing webhook bot gets a new token when it is given to another owner', async () => {
  const { owner, member } = realm;
  const hook = { bot_type: 3, payload_url: 'https://hooks.example/in', interface_type: 1 };
  const { user_id } = await owner.ok('POST', '/bots', { full_name: 'Moved', short_name: 'moved', ...hook });
  const tokenOf = async (who: Client) =>
    (await realmBots(who)).find((bot) => bot.user_id === user_id)?.services.map((one: Json) => one.token);
  const types = { event_types: ['realm_bot', 'message'] };
  const tokens = [await tokenOf(owner)];
  const [former, next] = [await owner.queue(types), await member.queue(types)];
  const change = { bot_owner_id: member.user_id, default_all_public_streams: true };
  await owner.ok('PATCH', `/bots/${user_id}`, change);
  tokens.push(await tokenOf(member));
  expect(await tokenOf(owner)).toEqual(['']);
  const toldTo = (events: Json[]) => events.flatMap(({ bot }) => (bot?.services ?? []).map((one: Json) => one.token));
  expect(new Set(toldTo(await former.settle()))).toEqual(new Set(['']));
  expect([toldTo(await next.settle()).at(-1)]).toEqual(tokens[1]);
  expect(new Set(tokens.flat()).size).toBe(2);
});

test('an outgoing webhook bot has no address after it was given to another owner, until one is set', async () => {
  const { administrator, owner, member, member2 } = realm;
  const [former, next] = ['https://hooks.example/former', 'https://hooks.example/next'];
  const hook = { bot_type: 3, payload_url: former, interface_type: 2 };
  const { user_id } = await member.ok('POST', '/bots', { full_name: 'Emptied', short_name: 'emptied', ...hook });
  const at = `/bots/${user_id}`;
  const addressesIn = (bots: (Json | undefined)[]) =>
    bots.flatMap((bot) => (bot?.services ?? []).map((one: Json) => one.base_url));
  const listed = async (who: Client) => addressesIn((await realmBots(who)).filter((bot) => bot.user_id === user_id));

  // Clients that send all values of a bot send its unchanged address, too. Another one is refused.
  const give = { bot_owner_id: member2.user_id, service_payload_url: former };
  for (const who of [member, administrator])
    expect(refused(await who.patch(at, { ...give, service_payload_url: next }))).toEqual(bad);
  expect(await listed(member)).toEqual([former]);
  const types = { event_types: ['realm_bot', 'message'] };
  const queues = await Promise.all([member2, owner].map((who) => who.queue(types)));
  const given = await member.ok('PATCH', at, give);
  expect([given.service_payload_url, given.service_interface]).toEqual(['', 2]);
  for (const queue of queues) expect(addressesIn((await queue.settle()).map(({ bot }) => bot)).at(-1)).toBe('');
  for (const who of [member2, owner]) expect(await listed(who)).toEqual(['']);

  const renamed = { full_name: 'Emptied Later', service_payload_url: '' };
  expect((await member2.ok('PATCH', at, renamed)).service_payload_url).toBe('');
  const entered = await member2.ok('PATCH', at, { service_payload_url: next });
  expect(entered.service_payload_url).toBe(next);
  expect(refused(await member2.patch(at, { service_payload_url: '' }))).toEqual(bad);
  await owner.ok('PATCH', at, { bot_owner_id: member2.user_id });
  expect(await listed(member2)).toEqual([next]);
});

test('a poll with the key of a former owner ends when the bot gets another owner', async () => {
  const { member, member2 } = realm;
  const bot = await botOf(member);
  const { id } = await bot.queue({ event_types: ['message'] });
  const poll = () => bot.get('/events', { queue_id: id, last_event_id: -1 });
  const held = poll();
  await member.ok('PATCH', `/bots/${bot.user_id}`, { bot_owner_id: member2.user_id });
  await member2.ok('POST', '/messages', { type: 'direct', to: [bot.user_id], content: 'of the next owner' });
  expect(JSON.stringify((await held).body)).not.toContain('of the next owner');
  expect((await poll()).status).toBe(401);
});

test('an outgoing webhook bot cannot have an address that is never called', async () => {
  const { member } = realm;
  const hook = { full_name: 'Caller', short_name: 'caller', bot_type: 3, interface_type: 1 };
  const { user_id } = await member.ok('POST', '/bots', { ...hook, payload_url: 'https://hooks.example:8443/' });
  for (const [address, problem] of [
    ['ftp://hooks.example/', 'is not a URL'],
    ['https://', 'is not a URL'],
    ['https://user:password@hooks.example/', 'cannot be called: an address with credentials'],
    ['https://hooks.example:25/', 'cannot be called: a reserved port'],
    ['http://hooks.example:0/', 'cannot be called: a reserved port'],
  ]) {
    const made = await member.post('/bots', { ...hook, full_name: 'Other', short_name: 'other', payload_url: address });
    expect([made.status, made.body.msg]).toEqual([400, `payload_url ${problem}`]);
    const changed = await member.patch(`/bots/${user_id}`, { service_payload_url: address });
    expect([changed.status, changed.body.msg]).toEqual([400, `service_payload_url ${problem}`]);
  }
});

test('parameters of embedded bots, which do not exist, are listed as ignored', async () => {
  const { member } = realm;
  const embedded = { config_data: { key: 'value' } };
  const form = { full_name: 'Plain', short_name: 'plain', service_name: 'helloworld', ...embedded };
  const made = await member.ok('POST', '/bots', form);
  expect(made.ignored_parameters_unsupported.toSorted()).toEqual(['config_data', 'service_name']);
  const changed = await member.ok('PATCH', `/bots/${made.user_id}`, embedded);
  expect(changed.ignored_parameters_unsupported).toEqual(['config_data']);
});
