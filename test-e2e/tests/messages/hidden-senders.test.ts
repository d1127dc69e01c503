import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let queues: Awaited<ReturnType<Client['queue']>>[];
beforeAll(async () => {
  realm = await openRealm();
  const { owner, member } = realm;
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'talk' }],
    principals: [owner.user_id, member.user_id],
  });
  queues = await Promise.all([owner, member].map((who) => who.queue({ event_types: ['message'] })));
});

const send = async (who: Client, form: Json): Promise<number> =>
  (await who.ok('POST', '/messages', { content: `by ${who.user_id}`, ...form })).id;

test('the events of a message that is sent after its sender hid their address do not contain the address', async () => {
  const { owner, member, host } = realm;
  const person = await realm.person();
  const nominal = `user${person.user_id}@${host}`;
  const to = [owner.user_id, member.user_id];
  for (let round = 0; round < 8; round++) {
    await person.ok('PATCH', '/settings', { email_address_visibility: 4 });
    const ids = await Promise.all([
      send(person, { type: 'channel', to: 'talk', topic: 'hidden' }),
      send(person, { type: 'direct', to }),
      send(person, { type: 'channel', to: 'talk', topic: `hidden ${round}` }),
    ]);
    for (const queue of queues)
      for (const id of ids) {
        const isIt = (event: Json) => event.type === 'message' && event.message.id === id;
        const { message } = queue.seen.find(isIt) ?? (await queue.next(isIt));
        expect(message.sender_email).toBe(nominal);
        expect(JSON.stringify(message)).not.toContain(person.email);
      }
    // Shown again, the real address is in the next message.
    await person.ok('PATCH', '/settings', { email_address_visibility: 1 });
    const shown = await send(person, { type: 'channel', to: 'talk', topic: 'shown' });
    for (const queue of queues)
      expect((await queue.next((event) => event.message?.id === shown)).message.sender_email).toBe(person.email);
  }
});

test('a bot of a guest that is mentioned gets no identity of a sender whom the guest may not see', async () => {
  const { owner } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const members = user_groups.find((group: Json) => group.name === 'role:members').id;
  await owner.ok('PATCH', '/realm', { enable_spectator_access: true });
  await owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: members } });
  const [sender, guest] = [await realm.person(), await realm.person()];
  const made = await guest.ok('POST', '/bots', { full_name: 'Guest bot', short_name: 'guestbot' });
  await owner.ok('PATCH', `/users/${guest.user_id}`, { role: 600 });
  const { api_key } = await guest.ok('GET', `/bots/${made.user_id}/api_key`);
  const bot = new Client(owner, { ...made, api_key, full_name: 'Guest bot', email: `guestbot-bot@${realm.host}` });
  await owner.ok('POST', '/channels/create', { name: 'web', is_web_public: true, subscribers: [sender.user_id] });
  const queue = await bot.queue({ event_types: ['message'] });
  const to = { type: 'channel', to: 'web', topic: 'hidden' };
  const id = await send(sender, { ...to, content: `@**Guest bot|${made.user_id}** hello` });
  const { message } = await queue.next((event) => event.message?.id === id);
  expect(message.sender_full_name).toBe('Unknown user');
  expect(JSON.stringify(message)).not.toContain(sender.email);
  expect(JSON.stringify(message)).not.toContain(sender.full_name);
});
