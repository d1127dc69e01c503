import { Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';
import { mailedKey } from './mailed-key.ts';

let realm: Realm;
beforeEach(async () => {
  realm = await openRealm();
});

let count = 0;
async function join(key: string, form: Json = {}): Promise<Client> {
  const account = {
    email: `new${++count}@natter.example`,
    full_name: `New ${count}`,
    password: 'a long password',
    ...form,
  };
  const made = await realm.spectator.ok('POST', '/join', { key, ...account });
  return new Client({ url: realm.owner.url, host: realm.host }, { ...account, ...made });
}

const keyOf = (link: string): string => link.split('/').filter(Boolean).at(-1) as string;
const link = async (client: Client, form: Json): Promise<string> =>
  keyOf((await client.ok('POST', '/invites/multiuse', form)).invite_link);

/** Recent messages to a user: those among the newest events of the realm that they may read. */
async function greeting(client: Client): Promise<string> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const { max_message_id } = await client.ok('GET', '/users/me');
    const ids = Array.from({ length: 30 }, (_, index) => max_message_id - index);
    const answers = await Promise.all(ids.map((id) => client.get(`/messages/${id}/history`)));
    const found = answers.filter(({ status }) => status === 200).map(({ body }) => body.message_history[0].content);
    if (found.length > 0) return found.join('\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nobody wrote');
}

test('the welcome text of a link replaces that of the realm, unless it is null, and an empty text sends none', async () => {
  await realm.owner.ok('PATCH', '/realm', { welcome_message_custom_text: 'THE REALM GREETS' });
  const own = await join(await link(realm.owner, { welcome_message_custom_text: 'WELCOME TO THE CREW' }));
  expect(await greeting(own)).toContain('WELCOME TO THE CREW');
  expect(await greeting(own)).not.toContain('THE REALM GREETS');
  const theirs = await join(await link(realm.owner, {}));
  expect(await greeting(theirs)).toContain('THE REALM GREETS');
  const none = await join(await link(realm.owner, { welcome_message_custom_text: '' }));
  expect(await greeting(none)).not.toContain('THE REALM GREETS');
});

test('a welcome text of a user who is not an administrator is ignored', async () => {
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const members = user_groups.find((group: Json) => group.name === 'role:members').id;
  await realm.owner.ok('PATCH', '/realm', { create_multiuse_invite_group: { new: members } });
  const newcomer = await join(await link(realm.member, { welcome_message_custom_text: 'A TEXT OF A MEMBER' }));
  expect(await greeting(newcomer)).not.toContain('A TEXT OF A MEMBER');
});

test('an invitation by mail works once, for its address, and its creator is notified of the join', async () => {
  const email = `mailed${Math.random()}@natter.example`;
  await realm.member.ok('POST', '/invites', { invitee_emails: email, stream_ids: [] });
  const key = await mailedKey(email);
  expect((await realm.spectator.get(`//accounts/do_confirm/${key}`)).body).toContain(email);
  const queue = await realm.member.queue({ event_types: ['message'] });
  const newcomer = await join(key, { email: 'another@natter.example', full_name: 'Mailed Person' });
  expect((await newcomer.ok('GET', '/users/me')).delivery_email).toBe(email);
  const told = await queue.next((event) => event.message.content.includes('Mailed Person'));
  expect(told.message.sender_full_name).toBe('Notification Bot');
  const again = await realm.spectator.post('/join', { key, full_name: 'Again', password: 'a long password' });
  expect(again.status).toBe(400);
  expect((await realm.owner.ok('GET', '/invites')).invites).toEqual([]);
});

test('an administrator receives a preview of a welcome text from the welcome bot', async () => {
  const text = { welcome_message_custom_text: 'THE MAP HANGS IN THE HALL' };
  const queue = await realm.administrator.queue({ event_types: ['message'] });
  const { message_id } = await realm.administrator.ok('POST', '/realm/test_welcome_bot_custom_message', text);
  const { message } = await queue.next((event) => event.message.id === message_id);
  expect(message).toMatchObject({ type: 'private', sender_full_name: 'Welcome Bot' });
  expect(message.content).toContain('THE MAP HANGS IN THE HALL');
  for (const answer of [
    await realm.moderator.post('/realm/test_welcome_bot_custom_message', text),
    await realm.owner.post('/realm/test_welcome_bot_custom_message', {
      welcome_message_custom_text: 'x'.repeat(8001),
    }),
  ])
    expect([answer.status, answer.body.code]).toEqual([400, 'BAD_REQUEST']);
});
