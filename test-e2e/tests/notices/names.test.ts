import { type Client, type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { beforeDue } from '../scheduled-messages/soon.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

test('names of topics, channels and groups in notices do not mention users or create links', async () => {
  const { owner, member } = realm;
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const nobody = user_groups.find(({ name }: Json) => name === 'role:nobody').id;
  await owner.ok('PATCH', '/realm', { can_mention_many_users_group: { new: nobody } });
  const people = [owner.user_id, member.user_id];
  const { id: open } = await owner.ok('POST', '/channels/create', { name: 'open', subscribers: people });
  await owner.ok('PATCH', '/realm', { new_stream_announcements_stream_id: open });
  const queue = await owner.queue({ event_types: ['message'], fetch_event_types: [] });

  const named = (kind: string): string => `${kind}** @**all** @*role:owners* [x](http://e.example)`;
  const form = { type: 'channel', to: 'open', topic: named('zero'), content: 'hello' };
  const { id } = await member.ok('POST', '/messages', form);
  await member.ok('PATCH', `/messages/${id}`, {
    topic: named('one'),
    propagate_mode: 'change_all',
    send_notification_to_old_thread: true,
    send_notification_to_new_thread: true,
  });
  const channel = { name: named('two'), subscribers: [member.user_id], announce: true };
  const { id: channelId } = await member.ok('POST', '/channels/create', channel);
  const subscriptions = [{ name: channel.name }];
  await member.ok('POST', '/users/me/subscriptions', { subscriptions, principals: people });
  await member.ok('PATCH', `/streams/${channelId}`, { new_name: named('three') });
  await member.ok('POST', '/user_groups/create', { name: named('four'), description: '', members: people });

  // Two of the move, the announcement, the subscription, the new name, the group.
  const notices = (): Json[] =>
    queue.seen.filter(
      ({ message }) => message?.sender_full_name === 'Notification Bot' && message.content.includes('http://e.example'),
    );
  const count = async (): Promise<number> => {
    await queue.poll(true);
    return notices().length;
  };
  await expect.poll(count).toBe(6);
  for (const { message, flags } of notices()) {
    expect([message.content, flags]).toEqual([message.content, []]);
    expect(message.content).not.toMatch(/class="user-(?:group-)?mention(?! silent)|href="http/);
  }
});

test('a user name that looks like a link does not create one in a notice, even if the name changes meanwhile', async () => {
  const { owner, member } = realm;
  const queue = await member.queue({ event_types: ['message'], fetch_event_types: [], apply_markdown: true });
  await owner.ok('PATCH', '/settings', { full_name: '[Log in again](https://evil.example)' });
  const form = { name: 'renamed meanwhile', description: '', members: [member.user_id] };
  const made = owner.ok('POST', '/user_groups/create', form);
  await Promise.all([made, owner.ok('PATCH', '/settings', { full_name: 'Owner' })]);
  await owner.ok('PATCH', '/settings', { full_name: '[Log in again](https://evil.example)' });
  const again = { ...form, name: 'named so' };
  await owner.ok('POST', '/user_groups/create', again);
  const { message } = await queue.next((event) => event.message?.content.includes('named so'));
  await owner.ok('PATCH', '/settings', { full_name: 'Owner' });
  expect(message.content).toContain('<code>[Log in again](https://evil.example)</code>');
  expect(JSON.stringify(queue.seen)).not.toContain('href=\\"https://evil.example');
});

test('a reminder and a report do not reveal a private channel that their author mentions', async () => {
  const { owner, member } = realm;
  const subscribers = [owner.user_id];
  const vault = await owner.ok('POST', '/channels/create', { name: 'vault', subscribers, invite_only: true });
  await owner.ok('POST', '/messages', { type: 'channel', to: 'vault', topic: 'gold', content: 'hello' });
  const content = '#**vault** #**vault>gold**';
  const { id } = await member.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content });
  const scheduled_delivery_timestamp = Math.floor(Date.now() / 1000) + 3_600;
  await member.ok('POST', '/reminders', { message_id: id, note: content, scheduled_delivery_timestamp });
  const [reminder] = (await member.ok('GET', '/reminders')).reminders;
  expect(reminder.rendered_content).toContain('vault');
  expect(reminder.rendered_content).not.toContain('data-stream-id');

  const desk = { name: 'desk', subscribers: [member.user_id], invite_only: true };
  const { id: deskId } = await member.ok('POST', '/channels/create', desk);
  await owner.ok('PATCH', '/realm', { moderation_request_channel_id: deskId });
  const queue = await member.queue({ event_types: ['message'], fetch_event_types: [] });
  await member.ok('POST', `/messages/${id}/report`, { report_type: 'other', description: content });
  // The notice that the channel was created may arrive before or after the report.
  const { message } = await queue.next(
    (event) => event.message?.stream_id === deskId && event.message.subject !== 'channel events',
  );
  expect(message.content).toContain('vault');
  expect(message.content).not.toContain(`data-stream-id="${vault.id}"`);
});

test('a welcome text does not reveal a private channel to its author or to a new user', async () => {
  const { owner, administrator } = realm;
  const subscribers = [owner.user_id];
  await owner.ok('POST', '/channels/create', { name: 'safe', subscribers, invite_only: true });
  await owner.ok('POST', '/messages', { type: 'channel', to: 'safe', topic: 'gold', content: 'hello' });
  const text = { welcome_message_custom_text: '#**safe** #**safe>gold**' };
  const latest = async (who: Client): Promise<string> => {
    const { messages } = await who.ok('GET', '/messages', { anchor: 'newest', num_before: 10, num_after: 0 });
    return messages.findLast(({ sender_full_name }: Json) => sender_full_name === 'Welcome Bot')?.content ?? '';
  };
  await administrator.ok('POST', '/realm/test_welcome_bot_custom_message', text);
  await administrator.ok('PATCH', '/realm', text);
  const newcomer = await realm.person();
  await noticesSent(realm.id);
  for (const who of [administrator, newcomer]) {
    expect(await latest(who)).toContain('safe');
    expect(await latest(who)).not.toContain('data-stream-id');
  }
});

test('the reason of a failed scheduled message does not reveal a private channel that its channel name mentions', async () => {
  const { owner, member } = realm;
  const subscribers = [owner.user_id];
  const cellar = await owner.ok('POST', '/channels/create', { name: 'cellar', subscribers, invite_only: true });
  await owner.ok('POST', '/messages', { type: 'channel', to: 'cellar', topic: 'gold', content: 'hello' });
  const { user_groups } = await owner.ok('GET', '/user_groups');
  const nobody = user_groups.find(({ name }: Json) => name === 'role:nobody').id;
  const isNotice = ({ message }: Json) => message?.content.includes('was not sent');
  const isSent = ({ message }: Json) => message?.content.includes('scheduled');
  // On a busy machine a message may be sent before its channel is closed; the next one has more time.
  const reason = async (seconds: number): Promise<string> => {
    const name = `#**cellar>gold** #**cellar** ${seconds}`;
    const { id } = await member.ok('POST', '/channels/create', { name, subscribers: [member.user_id] });
    const queue = await member.queue({ event_types: ['message'], apply_markdown: true });
    const form = { type: 'channel', to: id, topic: 't', content: 'scheduled' };
    await beforeDue(
      (at) => member.ok('POST', '/scheduled_messages', { ...form, scheduled_delivery_timestamp: at }),
      seconds,
    );
    await owner.ok('PATCH', `/streams/${id}`, { can_send_message_group: { new: nobody } });
    const { message } = await queue.next((event) => isNotice(event) || isSent(event), 120_000);
    return isNotice({ message }) || seconds > 60 ? message.content : reason(seconds * 2);
  };
  const shown = await reason(3);
  expect(shown).toContain('Not authorized');
  expect(shown).not.toContain(`data-stream-id="${cellar.id}"`);
});

/** Characters that the renderer removes, and a line end that it replaces. */
const [start, end] = ['\u0002', '\u0003'];
const closing = `x\r\`${start}\`\`\r@**all** @*role:members* **Security notice**`;

test('a description does not reveal a private channel in a notice, whatever characters the renderer removes', async () => {
  const { owner, member } = realm;
  const subscribers = [owner.user_id];
  const board = await owner.ok('POST', '/channels/create', { name: 'board', subscribers, invite_only: true });
  const { id } = await owner.ok('POST', '/messages', { type: 'channel', to: 'board', topic: 'pay', content: 'hello' });
  const description = `#**board** #${start}**board** #*${end}*board** #**board>pay** #${start}**board>pay**`;
  const made = { name: 'of a member', subscribers: [member.user_id], description };
  const { id: own } = await member.ok('POST', '/channels/create', made);
  await member.ok('PATCH', `/streams/${own}`, { description: `${description} again` });
  await noticesSent(realm.id);
  const narrow = [['channel', own]];
  const form = { anchor: 'newest', num_before: 10, num_after: 0, narrow };
  const text = JSON.stringify((await member.ok('GET', '/messages', form)).messages);
  expect(text).toContain('changed the description');
  expect(text).not.toContain(`data-stream-id=\\"${board.id}`);
  expect(text).not.toContain(`/with/${id}`);
});

test('a notice links the channel that it is about, even a private one', async () => {
  const { owner, member } = realm;
  const principals = [owner.user_id, member.user_id];
  const private_ = { name: 'crypt', subscribers: [owner.user_id], invite_only: true };
  const { id } = await owner.ok('POST', '/channels/create', private_);
  const queue = await member.queue({ event_types: ['message'], apply_markdown: true });
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'crypt' }], principals });
  const { message } = await queue.next((event) => event.message?.content.includes('subscribed you'));
  expect(message.content).toContain(`data-stream-id="${id}"`);
});

test('descriptions, reports and reminders do not end their quotes in a notice', async () => {
  const { owner, member, administrator } = realm;
  const readers = [owner, member, administrator].map(({ user_id }) => user_id);
  const { id: deskId } = await owner.ok('POST', '/channels/create', {
    name: 'quotes',
    subscribers: readers,
    invite_only: true,
  });
  await owner.ok('PATCH', '/realm', { moderation_request_channel_id: deskId });
  const queue = await administrator.queue({ event_types: ['message'], fetch_event_types: [], apply_markdown: true });
  const made = { name: 'quoting', subscribers: readers, description: 'before' };
  const { id } = await member.ok('POST', '/channels/create', made);
  await member.ok('PATCH', `/streams/${id}`, { description: closing });
  const direct = { type: 'direct', to: [administrator.user_id], content: `see ${closing}` };
  const written = await member.ok('POST', '/messages', direct);
  await administrator.ok('POST', `/messages/${written.id}/report`, { report_type: 'spam', description: closing });
  const isNotice = ({ message }: Json) => message?.sender_full_name === 'Notification Bot';
  const told = async (): Promise<string[]> => {
    await queue.poll(true);
    return queue.seen.filter(isNotice).flatMap(({ message }) => (message.content.includes('Security') ? ['told'] : []));
  };
  await expect.poll(told).toEqual(['told', 'told']);
  for (const { message, flags } of queue.seen.filter(isNotice)) {
    expect([message.content, flags]).toEqual([message.content, []]);
    expect(message.content).not.toMatch(
      /class="(?:user-|user-group-|topic-)mention(?! silent| channel-wildcard-mention silent)/,
    );
    // All text of the user is inside a quote.
    expect(message.content.replace(/<blockquote>.*?<\/blockquote>/gs, '')).not.toContain('Security');
  }
  const scheduled_delivery_timestamp = Math.floor(Date.now() / 1000) + 3_600;
  await administrator.ok('POST', '/reminders', { message_id: written.id, note: closing, scheduled_delivery_timestamp });
  const [reminder] = (await administrator.ok('GET', '/reminders')).reminders;
  expect(reminder.rendered_content).toContain('Security');
  expect(reminder.rendered_content.replace(/<blockquote>.*?<\/blockquote>/gs, '')).not.toContain('Security');
});
