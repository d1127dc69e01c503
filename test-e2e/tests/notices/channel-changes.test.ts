import { type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let groups: Record<string, number>;
beforeAll(async () => {
  realm = await openRealm();
  const { user_groups } = await realm.owner.ok('GET', '/user_groups');
  groups = Object.fromEntries(user_groups.map(({ name, id }: Json) => [name, id]));
});

/** Makes the changes to a new channel, and returns the notices about them as its subscriber gets them. */
async function noticesOf(name: string, changes: Json[], isMarkdown = false): Promise<Json[]> {
  const { owner, member } = realm;
  const { id } = await owner.ok('POST', '/channels/create', { name, subscribers: [member.user_id] });
  await noticesSent(realm.id);
  const capabilities = { archived_channels: true, empty_topic_name: true };
  const queue = await member.queue({
    event_types: ['message'],
    client_capabilities: capabilities,
    apply_markdown: isMarkdown,
  });
  for (const change of changes) {
    await owner.ok('PATCH', `/streams/${id}`, change);
    await noticesSent(realm.id);
  }
  const events = await queue.settle();
  for (const { message } of events)
    expect(message).toMatchObject({ sender_full_name: 'Notification Bot', stream_id: id, display_recipient: name });
  return events.map(({ message, flags }) => ({ ...message, flags }));
}
const contents = (messages: Json[]): string[] => messages.map(({ content }) => content);
const who = (): string => `@_**${realm.owner.full_name}|${realm.owner.user_id}**`;

test('a channel receives notices when it is archived, changed while archived, and restored', async () => {
  const changes = [{ is_archived: true }, { description: 'Over' }, { is_archived: false }];
  const notices = await noticesOf('seasonal', changes);
  expect(notices.map(({ subject }) => subject)).toEqual(['channel events', 'channel events', 'channel events']);
  expect(notices.map(({ flags }) => flags)).toEqual([['read'], ['read'], []]);
  const [archived, described, back] = contents(notices);
  expect(archived).toBe('Channel #**seasonal** has been archived.');
  expect(described).toContain('Over');
  expect(back).toBe('Channel #**seasonal** has been unarchived.');
});

test('a change of the posting permissions sends a notice with the old and the new value', async () => {
  const { member, member2 } = realm;
  const people = { direct_members: [member.user_id, member2.user_id], direct_subgroups: [groups['role:moderators']] };
  const changes = [groups['role:administrators'], people].map((value) => ({ can_send_message_group: { new: value } }));
  const mentions = [member, member2].map(({ full_name, user_id }) => `@_**${full_name}|${user_id}**`).join(', ');
  expect(contents(await noticesOf('news', changes))).toEqual([
    `${who()} changed the posting permissions for this channel:\n\n* **Old**: @_*role:everyone*\n* **New**: @_*role:administrators*`,
    `${who()} changed the posting permissions for this channel:\n\n* **Old**: @_*role:administrators*\n* **New**: @_*role:moderators*, ${mentions}`,
  ]);
});

test('a change of the effective retention sends a notice, also if the channel follows the realm', async () => {
  await realm.owner.ok('PATCH', '/realm', { message_retention_days: 30 });
  const changes = ['unlimited', 7, 30, 'realm_default'].map((days) => ({ message_retention_days: days }));
  const text = (old: string, new_: string, summary: string): string =>
    `${who()} has changed the message retention period for this channel:\n\n* **Old retention period**: ${old}\n* **New retention period**: ${new_}\n\n${summary}`;
  const deleted = (days: number): string =>
    `Messages in this channel will now be automatically deleted ${days} days after they are sent.`;
  expect(contents(await noticesOf('minutes', changes))).toEqual([
    text('30 days', 'Forever', 'Messages in this channel will now be retained forever.'),
    text('Forever', '7 days', deleted(7)),
    text('7 days', '30 days', deleted(30)),
  ]);
});

test('a change of the topics policy sends a notice', async () => {
  const notices = await noticesOf('talk', [{ topics_policy: 'disable_empty_topic' }], true);
  expect(contents(notices)).toEqual([
    expect.stringMatching(
      /changed the &quot;Allow posting to the <em>general chat<\/em> topic\?&quot; setting from <strong>Automatic<\/strong> to <strong>No <em>general chat<\/em> topic<\/strong>\.<\/p>$/,
    ),
  ]);
  const [allowed] = contents(await noticesOf('free', [{ topics_policy: 'allow_empty_topic' }], true));
  expect(allowed).toContain('to <strong><em>general chat</em> topic allowed</strong>.');
});

test('a realm that disables notices about channel changes does not send any', async () => {
  await realm.owner.ok('PATCH', '/realm', { send_channel_events_messages: false });
  const changes = [{ is_archived: true }, { is_archived: false }, { topics_policy: 'allow_empty_topic' }];
  expect(await noticesOf('silent', changes)).toEqual([]);
});
