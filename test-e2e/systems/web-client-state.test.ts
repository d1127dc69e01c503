import { rm } from 'node:fs/promises';
import { type ChatEvent, type Client, createClient, follow, type State as Snapshot } from '@natter/client';
import type { System } from '@natter/local/system';
import { applyToModel, modelOf, registerParams } from '@natter/web/model';
import { directPlace, keyOf, type Message, type Narrow, placeOf, termsOf, topicPlace } from '@natter/web/place';
import { SharedFeed } from '@natter/web/shared-feed';
import { initialState, reduce, type State } from '@natter/web/state';
import type { Page } from '@natter/web/views';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onePixel } from '../one-pixel.ts';
import { dataDirectory, openSystem } from '../open-system.ts';

const dot = new File([onePixel], 'dot.png', { type: 'image/png' });

let system: System;
let dataDir: string;
beforeAll(async () => {
  dataDir = await dataDirectory();
  system = await openSystem({ dataDir });
});
afterAll(async () => {
  await system?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const clientOf = (name: 'owner' | 'member' | 'member2'): Client => {
  const { email, api_key } = system.people[name];
  return createClient({ url: system.url, email, apiKey: api_key });
};

/** Channels with unread messages and a mention of the reader, of which one is archived already. */
async function openChannels(): Promise<Record<'attic' | 'cellar' | 'garage', number>> {
  const [owner, reader, other] = [clientOf('owner'), clientOf('member'), clientOf('member2')];
  const subscribers = Object.values(system.people).map(({ user_id }) => user_id);
  const mention = `@**${(await reader.getOwnUser()).full_name}**`;
  const open = async (name: string): Promise<number> => {
    const { id } = await owner.createChannel({ name, subscribers });
    for (const [topic, content] of [
      ['one', 'first'],
      ['one', mention],
      ['two', 'third'],
    ] as const)
      await other.sendMessage({ type: 'channel', to: id, topic, content });
    return id;
  };
  const channels = { attic: await open('attic'), cellar: await open('cellar'), garage: await open('garage') };
  await owner.archiveChannel({ stream_id: channels.attic });
  return channels;
}

/** Archives channels, and restores some. The reader reads and marks messages of archived ones. */
async function changeArchive({ attic, cellar, garage }: Awaited<ReturnType<typeof openChannels>>): Promise<void> {
  const [owner, reader] = [clientOf('owner'), clientOf('member')];
  for (const stream_id of [cellar, garage]) await owner.archiveChannel({ stream_id });
  for (const channelId of [attic, cellar, garage]) {
    const { messages } = await pageOf(reader, { kind: 'channel', channelId });
    const sent = messages.filter(({ sender_id }) => sender_id === system.people.member2.user_id);
    const [first = 0, , third = 0] = sent.map(({ id }) => id);
    await reader.updateFlags({ messages: [first, third], op: 'add', flag: 'read' });
    await reader.updateFlags({ messages: [first], op: 'remove', flag: 'read' });
  }
  for (const stream_id of [attic, garage]) await owner.updateChannel({ stream_id, is_archived: false });
}

/** Changes that others make, and those of the reader in another client. */
async function changeEverything(): Promise<void> {
  const [owner, reader, other] = [clientOf('owner'), clientOf('member'), clientOf('member2')];
  const readerId = system.people.member.user_id;
  const { stream_id } = await owner.getStreamId({ stream: 'general' });
  const inTopic = { type: 'channel' as const, to: stream_id };
  const direct = { type: 'direct' as const, to: [readerId] };
  const sent: number[] = [];
  for (const topic of ['one', 'one', 'two', 'Two', 'three'])
    sent.push((await other.sendMessage({ ...inTopic, topic, content: `in ${topic}` })).id);
  const [first = 0, second = 0, third = 0, fourth = 0] = sent;
  await other.sendMessage({ ...direct, content: 'to one' });
  await other.sendMessage({ ...direct, to: [readerId, system.people.owner.user_id], content: 'to two' });
  await reader.sendMessage({ ...direct, to: [readerId], content: 'to myself' });
  await reader.updateFlags({ messages: [first, third], op: 'add', flag: 'read' });
  await reader.updateFlags({ messages: [first], op: 'remove', flag: 'read' });
  await owner.updateMessage({ message_id: second, topic: 'moved', propagate_mode: 'change_one' });
  await owner.deleteMessage({ message_id: fourth });
  await changeMarks(stream_id);
  await changeWriting(stream_id);
  await changeSocial();
  await owner.updateChannel({ stream_id, new_name: 'renamed' });
}

/** Mentions, stars and settings. */
async function changeMarks(channelId: number): Promise<void> {
  const [owner, reader, other] = [clientOf('owner'), clientOf('member'), clientOf('member2')];
  const mention = `@**${(await reader.getOwnUser()).full_name}**`;
  const ids: number[] = [];
  for (const content of [
    `${mention} one`,
    `${mention} two`,
    `${mention} three`,
    'none',
    `${mention} no more`,
    '@**all**',
  ])
    ids.push((await other.sendMessage({ type: 'channel', to: channelId, topic: 'marks', content })).id);
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = ids;
  await reader.updateFlags({ messages: [first, second], op: 'add', flag: 'read' });
  await reader.updateFlags({ messages: [second], op: 'remove', flag: 'read' });
  await owner.deleteMessage({ message_id: third });
  await other.updateMessage({ message_id: fourth, content: `${mention} after all` });
  await other.updateMessage({ message_id: fifth, content: 'nobody' });
  await reader.updateFlags({ messages: [first, second, fourth], op: 'add', flag: 'starred' });
  await reader.updateFlags({ messages: [first], op: 'remove', flag: 'starred' });
  await owner.deleteMessage({ message_id: second });
  await owner.updateRealm({ message_content_edit_limit_seconds: 1_200, message_content_delete_limit_seconds: 3_600 });
}

/** Drafts, messages for later, reminders, groups and settings. */
async function changeWriting(channelId: number): Promise<void> {
  const [owner, reader] = [clientOf('owner'), clientOf('member')];
  const readerId = system.people.member.user_id;
  const draft = { type: 'stream' as const, to: [channelId], topic: 'drafts', content: 'one' };
  const { ids } = await reader.createDrafts({ drafts: [draft, { ...draft, content: 'two' }] });
  const [first = 0, second = 0] = ids;
  await reader.editDraft({ draft_id: first, draft: { ...draft, content: 'changed' } });
  await reader.deleteDraft({ draft_id: second });
  const due = Math.floor(Date.now() / 1_000) + 86_400;
  const later = { type: 'channel' as const, to: channelId, topic: 'later', scheduled_delivery_timestamp: due };
  const kept = await reader.createScheduledMessage({ ...later, content: 'kept' });
  const dropped = await reader.createScheduledMessage({ ...later, content: 'dropped' });
  await reader.editScheduledMessage({ scheduled_message_id: kept.scheduled_message_id, content: 'changed' });
  await reader.deleteScheduledMessage({ scheduled_message_id: dropped.scheduled_message_id });
  const { id } = await reader.sendMessage({ type: 'channel', to: channelId, topic: 'later', content: 'remember' });
  for (const note of ['kept', 'dropped'])
    await reader.createReminder({ message_id: id, scheduled_delivery_timestamp: due, note });
  const [reminder] = (await reader.getReminders()).reminders;
  await reader.deleteReminder({ reminder_id: reminder?.reminder_id ?? 0 });
  const { group_id } = await owner.createUserGroup({ name: 'makers', description: '', members: [readerId] });
  await owner.updateUserGroupMembers({
    user_group_id: group_id,
    add: [system.people.owner.user_id],
    delete: [readerId],
  });
  await owner.updateUserGroup({ user_group_id: group_id, name: 'writers' });
  await reader.updateSettings({ enable_sounds: false });
  await owner.updateRealm({ topics_policy: 'disable_empty_topic' });
  await owner.updateChannel({ stream_id: channelId, topics_policy: 'allow_empty_topic' });
  await owner.updateUser({ user_id_or_email: String(readerId), role: 300 });
  await changeOrganization(channelId, group_id);
  await changeCollections(channelId);
  await changeBots();
}

/** Domains, playgrounds, default channels and pictures. */
async function changeCollections(channelId: number): Promise<void> {
  const owner = clientOf('owner');
  for (const domain of ['one.example.com', 'two.example.com', 'three.example.com'])
    await owner.addRealmDomain({ domain, allow_subdomains: false });
  await owner.updateRealmDomain({ domain: 'one.example.com', allow_subdomains: true });
  await owner.removeRealmDomain({ domain: 'two.example.com' });
  await owner.updateRealm({ emails_restricted_to_domains: true });
  const playground = { pygments_language: 'Python', url_template: 'https://play.example.com/?code={code}' };
  const { id } = await owner.addPlayground({ name: 'gone', ...playground });
  await owner.addPlayground({ name: 'kept', ...playground });
  await owner.removePlayground({ playground_id: id });
  const ownerId = system.people.owner.user_id;
  const made = await owner.createChannel({ name: 'arrivals', subscribers: [ownerId] });
  await owner.addDefaultChannel({ stream_id: made.id });
  await owner.removeDefaultChannel({ stream_id: channelId });
  await owner.addRealmIcon({ file: dot });
  for (const night of [true, false]) await owner.addRealmLogo({ night, file: dot });
  await owner.removeRealmLogo({ night: false });
}

/** Bots of the reader, those that come and go with their owner, and all of them while the reader is an administrator. */
async function changeBots(): Promise<void> {
  const [owner, reader] = [clientOf('owner'), clientOf('member')];
  const readerId = system.people.member.user_id;
  const make = async (client: Client, name: string): Promise<number> =>
    (
      await client.createBot({
        full_name: name,
        short_name: name,
        bot_type: 3,
        payload_url: 'https://bots.example.com/',
        file: dot,
      })
    ).user_id;
  const [kept, ended, given] = [await make(reader, 'kept'), await make(reader, 'ended'), await make(reader, 'given')];
  const [got, others] = [await make(owner, 'got'), await make(owner, 'others')];
  await reader.updateBot({
    bot_id: kept,
    full_name: 'Kept bot',
    default_sending_stream: 'arrivals',
    default_events_register_stream: 'arrivals',
    default_all_public_streams: true,
    service_payload_url: 'https://other.example.com/',
    service_interface: 2,
    file: dot,
  });
  await reader.updateBot({ bot_id: kept, default_events_register_stream: '' });
  await reader.regenerateBotApiKey({ bot_id: kept });
  for (const bot_id of [kept, ended]) await reader.deactivateBot({ bot_id });
  await owner.reactivateUser({ user_id: kept });
  await reader.updateBot({ bot_id: given, bot_owner_id: system.people.owner.user_id });
  await owner.updateBot({ bot_id: got, bot_owner_id: readerId });
  await owner.updateUser({ user_id_or_email: String(readerId), role: 200 });
  await owner.updateBot({ bot_id: others, full_name: 'Bot of others' });
  await owner.updateUser({ user_id_or_email: String(readerId), role: 300 });
}

/** Statuses, muted people and alert words. */
async function changeSocial(): Promise<void> {
  const [owner, reader, other] = [clientOf('owner'), clientOf('member'), clientOf('member2')];
  await other.updateOwnStatus({ status_text: 'In a meeting', emoji_name: 'calendar' });
  await other.updateOwnStatus({ status_text: 'In another one' });
  await owner.updateOwnStatus({ status_text: 'Away', emoji_name: 'bus' });
  await owner.updateOwnStatus({ status_text: '', emoji_name: '' });
  await reader.updateOwnStatus({ emoji_name: 'house' });
  for (const name of ['owner', 'member2'] as const)
    await reader.muteUser({ muted_user_id: system.people[name].user_id });
  await reader.unmuteUser({ muted_user_id: system.people.owner.user_id });
  await reader.addAlertWords({ alert_words: ['outage', 'deploy'] });
  await reader.removeAlertWords({ alert_words: ['outage'] });
}

/** Folders, permissions, settings and emoji. */
async function changeOrganization(channelId: number, groupId: number): Promise<void> {
  const owner = clientOf('owner');
  const folders: number[] = [];
  for (const name of ['first', 'second', 'third'])
    folders.push((await owner.createChannelFolder({ name })).channel_folder_id);
  const [first = 0, second = 0, third = 0] = folders;
  await owner.reorderChannelFolders({ order: [third, first, second] });
  await owner.updateChannelFolder({ channel_folder_id: first, name: 'renamed folder' });
  await owner.updateChannelFolder({ channel_folder_id: second, is_archived: true });
  const certain = { direct_members: [system.people.member.user_id], direct_subgroups: [groupId] };
  await owner.updateChannel({
    stream_id: channelId,
    folder_id: third,
    can_delete_any_message_group: { new: certain },
    can_resolve_topics_group: { new: groupId },
  });
  await owner.updateUserGroup({
    user_group_id: groupId,
    description: 'People who write',
    can_join_group: { new: certain },
  });
  await owner.updateRealm({
    can_add_custom_emoji_group: { new: certain },
    can_invite_users_group: { new: groupId },
    name_changes_disabled: true,
    move_messages_within_stream_limit_seconds: 'unlimited',
  });
  for (const emoji_name of ['dot', 'gone']) await owner.addRealmEmoji({ emoji_name, file: dot });
  await owner.removeRealmEmoji({ emoji_name: 'gone' });
}

test('unread messages of an archived channel come back with it', async () => {
  const reader = clientOf('member');
  const channels = await openChannels();
  const feed = await follow(reader, registerParams);
  await changeArchive(channels);
  // A channel has notices of its creation and of each change. They are sent some time after the change.
  const notices = async () => {
    const pages = Object.values(channels).map((id) => pageOf(reader, topicPlace(id, 'channel events')));
    return (await Promise.all(pages)).map(({ messages }) => messages.length);
  };
  await expect.poll(notices).toEqual([3, 2, 3]);
  const last = await reader.sendMessage({
    type: 'direct',
    to: [system.people.member.user_id],
    content: 'the last one',
  });
  let model = modelOf(feed.state);
  for await (const event of feed) {
    if (event.type === 'gap') throw new Error('The queue ended');
    model = applyToModel(model, event);
    if (event.type === 'message' && event.message.id === last.id) break;
  }
  expect(model).toEqual(modelOf(await reader.register(registerParams)));
  const { attic, cellar, garage } = channels;
  const { unread, archivedUnread, marks } = model;
  expect([[...model.archived.keys()], model.channels.has(attic), model.channels.has(garage)]).toEqual([
    [cellar],
    true,
    true,
  ]);
  for (const [part, id] of [
    [unread, attic],
    [unread, garage],
    [archivedUnread, cellar],
  ] as const) {
    const ids = [...(part.get(keyOf(topicPlace(id, 'one')))?.ids ?? [])];
    expect([id, ids.length, ids.filter((one) => marks.mentions.has(one)).length]).toEqual([id, 2, 1]);
  }
});

test('the state after events is that of a fresh register, also in a tab that joins later', async () => {
  const reader = clientOf('member');
  const feed = await follow(reader, registerParams);
  let state = initialState(modelOf(feed.state));
  expect([state.outbox, state.views.size]).toEqual([[], 0]);
  const leader = await openTab(reader);
  await changeEverything();
  const events = feed[Symbol.asyncIterator]();
  const applyUntil = async (isLast: (event: ChatEvent) => boolean): Promise<void> => {
    for (;;) {
      const { value: event } = await events.next();
      if (!event || event.type === 'gap') throw new Error('The queue ended');
      if (isLast(event)) return;
      state = reduce(state, { type: 'event', event });
    }
  };
  // The notice about the new name is sent some time after the change.
  await applyUntil((event) => {
    if (event.type !== 'message' || !event.message.content.includes('renamed')) return false;
    state = reduce(state, { type: 'event', event });
    return true;
  });
  const fresh: Snapshot = await reader.register(registerParams);
  const to = [system.people.member.user_id];
  const last = await reader.sendMessage({ type: 'direct', to, content: 'the last one' });
  await applyUntil((event) => event.type === 'message' && event.message.id === last.id);
  expect(state.model).toEqual(modelOf(fresh));
  const follower = await openTab(reader);
  expect([leader.isLeading, follower.isLeading]).toEqual([true, false]);
  const latest = modelOf(await reader.register(registerParams));
  for (const tab of [leader, follower]) await expect.poll(() => tab.model).toEqual(latest);
  for (const tab of [leader, follower]) tab.leave();
});

const openTab = (reader: Client): Promise<SharedFeed> =>
  SharedFeed.start({
    name: 'tabs of a reader',
    open: (options) => follow(reader, registerParams, options),
    isVisible: () => false,
    onUnreachable: () => undefined,
  });

/** A page of the newest messages, as the web client loads it. */
async function pageOf(reader: Client, narrow: Narrow): Promise<Page> {
  const answer = await reader.getMessages({
    narrow: termsOf(narrow),
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    client_gravatar: true,
    allow_empty_topic_name: true,
  });
  const { found_oldest: foundOldest, found_newest: foundNewest } = answer;
  return { narrow, messages: answer.messages as unknown as Message[], foundOldest, foundNewest, since: [] };
}

/** The parts of a view that a reader sees. */
function seenIn(state: State, narrow: Narrow): unknown {
  const view = state.views.get(keyOf(narrow));
  return view?.ids.map((id) => {
    const { content, flags, reactions, ...message } = state.messages.get(id) as Message;
    const emoji = reactions.map(({ emoji_code, user_id }) => `${emoji_code} ${user_id}`).sort();
    return [id, content, [...flags].sort(), emoji, keyOf(placeOf(message as Message, state.model.ownId))];
  });
}

test('loaded pages with events applied equal pages that are loaded again', async () => {
  const [owner, reader, other] = [clientOf('owner'), clientOf('member'), clientOf('member2')];
  const { stream_id } = await owner.getStreamId({ stream: 'renamed' });
  const inTopic = { type: 'channel' as const, to: stream_id };
  const mention = `@**${(await reader.getOwnUser()).full_name}**`;
  const ids: number[] = [];
  for (const content of ['a', 'b', mention, 'd', 'e', `f ${mention}`])
    ids.push((await other.sendMessage({ ...inTopic, topic: 'pages', content })).id);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = ids;
  await reader.updateFlags({ messages: [a, b], op: 'add', flag: 'starred' });
  const all: Narrow[] = [
    ...(['all', 'feed', 'mentions', 'starred'] as const).map((kind) => ({ kind })),
    { kind: 'channel', channelId: stream_id },
    topicPlace(stream_id, 'pages'),
    topicPlace(stream_id, 'moved here'),
    directPlace([system.people.member2.user_id], system.people.member.user_id),
  ];
  const feed = await follow(reader, registerParams);
  let state = initialState(modelOf(feed.state));
  const pages = await Promise.all(all.map((narrow) => pageOf(reader, narrow)));
  for (const page of pages) state = reduce(state, { type: 'opened', page });
  await reader.addReaction({ message_id: a, emoji_name: 'tada' });
  await other.addReaction({ message_id: a, emoji_name: 'tada' });
  await reader.removeReaction({ message_id: a, emoji_name: 'tada' });
  await reader.updateFlags({ messages: [a], op: 'remove', flag: 'starred' });
  await reader.updateFlags({ messages: [d], op: 'add', flag: 'starred' });
  await other.updateMessage({ message_id: d, content: `d ${mention}` });
  await other.updateMessage({ message_id: f, content: 'f' });
  await owner.updateMessage({ message_id: b, topic: 'moved here', propagate_mode: 'change_one' });
  await owner.deleteMessage({ message_id: e });
  await reader.updateFlags({ messages: [c], op: 'add', flag: 'read' });
  await other.sendMessage({ type: 'direct', to: [system.people.member.user_id], content: 'direct' });
  // The move and the notice of it.
  const moved = topicPlace(stream_id, 'moved here');
  await expect.poll(async () => (await pageOf(reader, moved)).messages.length).toBe(2);
  const last = await reader.sendMessage({ ...inTopic, topic: 'pages', content: 'the last one' });
  const events: ChatEvent[] = [];
  for await (const event of feed) {
    if (event.type === 'gap') throw new Error('The queue ended');
    events.push(event);
    state = reduce(state, { type: 'event', event });
    if (event.type === 'message' && event.message.id === last.id) break;
  }
  const fresh = new Map<string, Page>();
  for (const narrow of all) fresh.set(keyOf(narrow), await pageOf(reader, narrow));
  let loaded = initialState(modelOf(feed.state));
  for (const page of fresh.values()) loaded = reduce(loaded, { type: 'opened', page });
  // Pages that were requested before the events came, and arrived after them.
  let late = initialState(modelOf(feed.state));
  for (const page of pages) late = reduce(late, { type: 'opened', page: { ...page, since: events } });
  for (const narrow of all) {
    const key = keyOf(narrow);
    expect([key, seenIn(state, narrow)]).toEqual([key, seenIn(loaded, narrow)]);
    expect([key, seenIn(late, narrow)]).toEqual([key, seenIn(loaded, narrow)]);
  }
});
