/** Messages, drafts and scheduled messages, by users with and without access. */
import { expect, type Stage } from './stage.ts';

const refusal = ['BAD_REQUEST'];
const named = (stage: Stage, what: string): string => `${what}${stage.random.below(1e9)}`;
const inAnHour = (): number => Math.floor(Date.now() / 1000) + 3_600;

export async function message(stage: Stage): Promise<void> {
  const [sender, reader] = [await stage.person('member'), await stage.person('member')];
  const moderator = await stage.person('administrator');
  const { id: message_id } = await stage.must(sender, 'send-message', {
    type: 'direct',
    to: [reader.user_id],
    content: 'first',
  });
  await stage.must(sender, 'update-message', { message_id, content: 'second' });
  const read = await stage.must(reader, 'get-message', { message_id });
  expect(read.raw_content === 'second', `an edited message reads ${read.raw_content}`);
  const { message_history } = await stage.must(reader, 'get-message-history', { message_id });
  expect(message_history.length === 2, `a message edited once has ${message_history.length} versions`);
  await stage.refused(await stage.person('administrator'), 'get-message', { message_id }, refusal);
  const { id: channel_id } = await stage.must(moderator, 'create-channel', {
    name: named(stage, 'reports '),
    subscribers: [moderator.user_id],
    invite_only: true,
  });
  await stage.must(moderator, 'update-realm', { moderation_request_channel_id: channel_id });
  await stage.must(reader, 'report-message', { message_id, report_type: 'spam' });
  await stage.must(sender, 'set-message-typing', { message_id, op: 'start' });
  await stage.refused(reader, 'set-message-typing', { message_id, op: 'start' }, refusal);
}

export async function reactions(stage: Stage): Promise<void> {
  const [sender, reader] = [await stage.person('member'), await stage.person('guest')];
  const sent = { type: 'direct', to: [reader.user_id], content: '/poll Lunch?\nyes\nno' };
  const { id: message_id } = await stage.must(sender, 'send-message', sent);
  await stage.must(reader, 'add-reaction', { message_id, emoji_name: 'smile' });
  await stage.refused(reader, 'add-reaction', { message_id, emoji_name: 'smile' }, ['REACTION_ALREADY_EXISTS']);
  await stage.refused(sender, 'remove-reaction', { message_id, emoji_name: 'smile' }, ['REACTION_DOES_NOT_EXIST']);
  await stage.must(reader, 'remove-reaction', { message_id, emoji_name: 'smile' });
  const vote = { message_id, msg_type: 'widget', content: '{"type":"vote","key":"canned,0","vote":1}' };
  await stage.must(reader, 'add-submessage', vote);
  await stage.refused(await stage.person('member'), 'add-submessage', vote, refusal);
  await stage.must(reader, 'update-message-flags', { messages: [message_id], op: 'add', flag: 'read' });
  const { user_ids } = await stage.must(sender, 'get-read-receipts', { message_id });
  expect(user_ids.includes(reader.user_id), 'who read a message is not among its readers');
}

export async function later(stage: Stage): Promise<void> {
  const [person, other] = [await stage.person('member'), await stage.person('member')];
  const draft = { type: 'private', to: [other.user_id], topic: '', content: 'draft' };
  const { ids } = await stage.must(person, 'create-drafts', { drafts: [draft] });
  const draft_id = ids[0];
  await stage.must(person, 'edit-draft', { draft_id, draft: { ...draft, content: 'changed' } });
  await stage.refused(other, 'edit-draft', { draft_id, draft }, refusal);
  const { drafts } = await stage.must(person, 'get-drafts');
  expect(drafts[0]?.content === 'changed', `an edited draft is ${drafts[0]?.content}`);
  await stage.must(person, 'delete-draft', { draft_id });
  await stage.refused(person, 'delete-draft', { draft_id }, refusal);

  const { scheduled_message_id } = await stage.must(person, 'create-scheduled-message', {
    type: 'direct',
    to: [other.user_id],
    content: 'later',
    scheduled_delivery_timestamp: inAnHour(),
  });
  await stage.must(person, 'edit-scheduled-message', { scheduled_message_id, content: 'much later' });
  await stage.refused(other, 'edit-scheduled-message', { scheduled_message_id, content: 'x' }, refusal);
  await stage.must(person, 'delete-scheduled-message', { scheduled_message_id });
  await stage.refused(person, 'delete-scheduled-message', { scheduled_message_id }, refusal);

  const sent = { type: 'direct', to: [person.user_id], content: 'remember' };
  const { id: message_id } = await stage.must(other, 'send-message', sent);
  const remind = { message_id, scheduled_delivery_timestamp: inAnHour() };
  const { reminder_id } = await stage.must(person, 'create-reminder', remind);
  await stage.refused(other, 'delete-reminder', { reminder_id }, refusal);
  await stage.must(person, 'delete-reminder', { reminder_id });
}

/** A queue belongs to its owner: it delivers each later event once, and to no other user. */
export async function queue(stage: Stage): Promise<void> {
  const [person, other] = [await stage.person('member'), await stage.person('member')];
  const { queue_id, last_event_id } = await stage.must(person, 'register', {
    event_types: ['message'],
    fetch_event_types: [],
  });
  const sent = { type: 'direct', to: [person.user_id], content: 'hello' };
  const { id } = await stage.must(other, 'send-message', sent);
  // A welcome message may come first, and be the only one that the gateway has read yet.
  const ids: number[] = [];
  for (let polls = 0, last = last_event_id; polls < 3 && !ids.includes(id); polls++) {
    const { events } = await stage.must(person, 'get-events', { queue_id, last_event_id: last });
    ids.push(...events.flatMap((event: { message?: { id: number } }) => event.message?.id ?? []));
    last = events.at(-1).id;
  }
  expect(ids.filter((one) => one === id).length === 1, `a queue tells of ${ids.join()} after the message ${id}`);
  await stage.refused(other, 'get-events', { queue_id, last_event_id, dont_block: true }, ['BAD_EVENT_QUEUE_ID']);
  await stage.refused(other, 'delete-queue', { queue_id }, ['BAD_EVENT_QUEUE_ID']);
  await stage.must(person, 'delete-queue', { queue_id });
  await stage.refused(person, 'get-events', { queue_id, last_event_id, dont_block: true }, ['BAD_EVENT_QUEUE_ID']);
}
