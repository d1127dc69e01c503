import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { uploadText } from '../uploads/upload.ts';
import { beforeDue, soon } from './soon.ts';

let realm: Realm;
let stranger: Client;
let name: string;
beforeAll(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  const { id } = user_groups.find((group: Json) => group.name === 'role:members');
  await realm.owner.ok('PATCH', '/realm', { can_access_all_users_group: { new: id } });
  stranger = await realm.person();
  name = (await realm.owner.ok('GET', `/users/${stranger.user_id}`)).user.full_name;
});

test('a reminder does not resolve a mention of a user whom its guest cannot see', async () => {
  const guest = await realm.person({ role: 'guest' });
  const queue = await guest.queue({ event_types: ['message'], apply_markdown: true });
  const mentions = `@**|${stranger.user_id}** @**${name}**`;
  const own = await guest.ok('POST', '/messages', { type: 'direct', to: [guest.user_id], content: mentions });
  await queue.next(({ message }) => message.id === own.id);
  await beforeDue((at) =>
    guest.ok('POST', '/reminders', { message_id: own.id, note: mentions, scheduled_delivery_timestamp: at }),
  );
  const { message } = await queue.next(() => true);
  expect(message.sender_full_name).toBe('Notification Bot');
  expect(message.content).not.toContain(`data-user-id="${stranger.user_id}"`);
  await guest.ok('POST', '/reminders', {
    message_id: own.id,
    note: `@**|${stranger.user_id}**`,
    scheduled_delivery_timestamp: soon(600),
  });
  const { reminders } = await guest.ok('GET', '/reminders');
  const [{ rendered_content }] = reminders;
  expect(rendered_content).not.toContain(`data-user-id="${stranger.user_id}"`);
  expect(rendered_content.split(name)).toHaveLength(2);
});

test('a member who became a guest receives reminders with the visibility of a guest', async () => {
  const person = await realm.person();
  const queue = await person.queue({ event_types: ['message'], apply_markdown: true });
  const mention = `@**|${stranger.user_id}**`;
  const own = await person.ok('POST', '/messages', { type: 'direct', to: [person.user_id], content: 'later' });
  await queue.next(({ message }) => message.id === own.id);
  const remind = async (): Promise<Json> => {
    await beforeDue((at) =>
      person.ok('POST', '/reminders', { message_id: own.id, note: mention, scheduled_delivery_timestamp: at }),
    );
    return (await queue.next(({ message }) => message.sender_full_name === 'Notification Bot')).message;
  };
  const shown = `data-user-id="${stranger.user_id}"`;
  expect((await remind()).content).toContain(shown);
  await realm.owner.ok('PATCH', `/users/${person.user_id}`, { role: 600 });
  const role = async (): Promise<number> => (await person.ok('GET', '/users/me')).role;
  await expect.poll(role).toBe(600);
  expect((await remind()).content).not.toContain(shown);
});

test('a reminder does not name a sender whom its guest can no longer see', async () => {
  const guest = await realm.person({ role: 'guest' });
  await realm.owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'corridor' }],
    principals: [guest.user_id, stranger.user_id],
  });
  const form = { type: 'channel', to: 'corridor', topic: 'greetings', content: 'see you' };
  const { id } = await stranger.ok('POST', '/messages', form);
  await stranger.ok('DELETE', '/users/me/subscriptions', { subscriptions: ['corridor'] });
  const shown = async (): Promise<string> => (await guest.ok('GET', `/messages/${id}`)).message.sender_full_name;
  await expect.poll(shown).toBe('Unknown user');
  await guest.ok('POST', '/reminders', { message_id: id, scheduled_delivery_timestamp: soon(600) });
  const { reminders } = await guest.ok('GET', '/reminders');
  expect(reminders[0].content).toContain('**Unknown user** said:');
  expect(JSON.stringify(reminders)).not.toContain(name);
});

test('a reminder does not give its guest access to a file that the guest may not see', async () => {
  const guest = await realm.person({ role: 'guest' });
  await realm.owner.ok('POST', '/channels/create', { name: 'plans', subscribers: [realm.member.user_id] });
  const url = await uploadText(realm.member, 'for members');
  const content = `[notes](${url})`;
  await realm.member.ok('POST', '/messages', { type: 'channel', to: 'plans', topic: 'files', content });
  const queue = await guest.queue({ event_types: ['message'], apply_markdown: true });
  const own = await guest.ok('POST', '/messages', { type: 'direct', to: [guest.user_id], content });
  await queue.next(({ message }) => message.id === own.id);
  expect((await guest.get(`/${url}`)).status).toBe(404);
  await beforeDue((at) =>
    guest.ok('POST', '/reminders', { message_id: own.id, note: content, scheduled_delivery_timestamp: at }),
  );
  await queue.next(({ message }) => message.sender_full_name === 'Notification Bot');
  expect((await guest.get(`/${url}`)).status).toBe(404);
  expect((await realm.member2.get(`/${url}`)).status).toBe(200);
});
