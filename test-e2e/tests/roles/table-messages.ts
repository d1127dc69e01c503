import type { Json } from '@natter/testkit';
import { uploadTo } from '../upload.ts';
import { type Cell, here, people, signedIn, type Table } from './cell.ts';

const inChannel = ({ channel, n }: Cell) => ({ type: 'stream', to: channel, topic: 'roles', content: `text ${n}` });
const byOwner = async (cell: Cell) => ({
  message_id: (await cell.realm.owner.ok('POST', '/messages', inChannel(cell))).id,
});
const byMe = async (cell: Cell) => ({ message_id: (await cell.own.ok('POST', '/messages', inChannel(cell))).id });
const known = async ({ message }: Cell) => ({ message_id: message });
const webPublic = async (cell: Cell) => ({
  message_id: (await cell.realm.owner.ok('POST', '/messages', inChannel({ ...cell, channel: cell.open }))).id,
});
const queue = async ({ own }: Cell) => ({
  queue_id: (await own.ok('POST', '/register', { event_types: [] })).queue_id,
});
const later = (): number => Math.floor(Date.now() / 1000) + 86_400;
const scheduled = async (cell: Cell) => {
  const form = { ...inChannel(cell), scheduled_delivery_timestamp: later() };
  return { scheduled_message_id: (await cell.own.ok('POST', '/scheduled_messages', form)).scheduled_message_id };
};
const reminder = async ({ own, message }: Cell) => {
  const form = { message_id: message, scheduled_delivery_timestamp: later() };
  return { reminder_id: (await own.ok('POST', '/reminders', form)).reminder_id };
};
const draft = { type: 'private', to: [], topic: '', content: 'draft' };
const drafted = async ({ own, bot, realm }: Cell) => {
  const writer = own.user_id === bot.user_id ? realm.member : own;
  return { draft_id: (await writer.ok('POST', '/drafts', { drafts: [draft] })).ids[0] };
};
const reacted = async (cell: Cell) => {
  const at = await byOwner(cell);
  await cell.own.ok('POST', `/messages/${at.message_id}/reactions`, { emoji_name: 'smile' });
  return at;
};

const resumable = async ({ own }: Cell) => {
  const { body } = await own.post('/tus', {}, { 'upload-length': '81920' });
  return { upload_id: body.upload_id };
};
/** A file of the realm's member to which no message refers. */
const uploaded = async ({ realm }: Cell) => {
  const { body } = await uploadTo(realm.member, '/user_uploads');
  const [, , realm_id, folder, token, name] = body.url.split('/');
  return { realm_id, realm_id_str: realm_id, folder, token, name, filename: name };
};
const nameOf = ({ realm_id_str, folder, token, name }: Record<string, Json>) => ({
  realm_id_str,
  filename: [folder, token, name].join('%2F'),
});
const attached = async ({ own }: Cell) => {
  await uploadTo(own, '/user_uploads');
  return { attachment_id: (await own.ok('GET', '/attachments')).attachments[0].id };
};

export const messagesTable: Table = {
  'POST /messages': [here, { form: inChannel, x: 'STREAM_DOES_NOT_EXIST' }],
  'POST /messages/render': [signedIn, { form: () => ({ content: '**bold**' }) }],
  'GET /messages': [
    'oamugbsx',
    {
      form: () => ({
        anchor: 'newest',
        num_before: 5,
        num_after: 0,
        narrow: [{ operator: 'channels', operand: 'web-public' }],
      }),
    },
  ],
  'GET /messages/{message_id}': ['oamugbs', { at: webPublic }],
  'GET /messages/summary': ['', {}],
  // An invisible message matches nothing.
  'GET /messages/matches_narrow': [signedIn, { form: ({ message }) => ({ msg_ids: [message], narrow: [] }) }],
  'POST /messages/flags': [here, { form: ({ message }) => ({ messages: [message], op: 'add', flag: 'starred' }) }],
  'POST /messages/flags/narrow': [
    signedIn,
    { form: () => ({ anchor: 'newest', num_before: 5, num_after: 0, narrow: [], op: 'add', flag: 'read' }) },
  ],
  'POST /mark_all_as_read': [signedIn],
  'POST /mark_stream_as_read': [here, { form: ({ channel }) => ({ stream_id: channel }) }],
  'POST /mark_topic_as_read': [here, { form: ({ channel }) => ({ stream_id: channel, topic_name: 'roles' }) }],
  'GET /users/me/pointer': [signedIn],
  'POST /users/me/pointer': [signedIn, { form: () => ({ pointer: 1 }) }],
  'GET /users/me/{stream_id}/topics': ['oamugbs', { at: async ({ open }) => ({ stream_id: open }) }],
  'POST /user_topics': [
    here,
    { form: ({ channel }) => ({ stream_id: channel, topic: 'roles', visibility_policy: 3 }) },
  ],
  'PATCH /users/me/subscriptions/muted_topics': [
    here,
    { form: ({ channel }) => ({ stream_id: channel, topic: 'roles', op: 'add' }) },
  ],
  'GET /drafts': [people],
  'POST /drafts': [people, { form: () => ({ drafts: [draft] }) }],
  'PATCH /drafts/{draft_id}': ['oamug', { at: drafted, form: () => ({ draft }), others: 'BAD_REQUEST' }],
  'DELETE /drafts/{draft_id}': ['oamug', { at: drafted, others: 'BAD_REQUEST' }],
  'GET /scheduled_messages': [signedIn],
  'POST /scheduled_messages': [
    here,
    { form: (cell) => ({ ...inChannel(cell), scheduled_delivery_timestamp: later() }), x: 'STREAM_DOES_NOT_EXIST' },
  ],
  'PATCH /scheduled_messages/{scheduled_message_id}': [
    here,
    { at: scheduled, form: () => ({ content: 'other' }), others: 'BAD_REQUEST' },
  ],
  'DELETE /scheduled_messages/{scheduled_message_id}': [here, { at: scheduled, others: 'BAD_REQUEST' }],
  'GET /reminders': [signedIn],
  'POST /reminders': [
    here,
    { form: ({ message }) => ({ message_id: message, scheduled_delivery_timestamp: later() }) },
  ],
  'DELETE /reminders/{reminder_id}': [here, { at: reminder, others: 'BAD_REQUEST' }],
  'PATCH /messages/{message_id}': [
    here,
    { at: byMe, form: ({ n }) => ({ content: `other ${n}` }), others: 'BAD_REQUEST' },
  ],
  'GET /messages/{message_id}/history': [here, { at: known }],
  'DELETE /messages/{message_id}': ['oa', { at: byOwner }],
  'POST /streams/{stream_id}/delete_topic': [
    'oa',
    {
      at: async ({ realm, channel, n }) => {
        await realm.owner.ok('POST', '/messages', { type: 'stream', to: channel, topic: `old ${n}`, content: 'text' });
        return { stream_id: channel };
      },
      form: ({ n }) => ({ topic_name: `old ${n}` }),
    },
  ],
  'POST /messages/{message_id}/reactions': [here, { at: byOwner, form: () => ({ emoji_name: 'smile' }) }],
  'DELETE /messages/{message_id}/reactions': [
    here,
    { at: reacted, form: () => ({ emoji_name: 'smile' }), others: 'REACTION_DOES_NOT_EXIST' },
  ],
  'GET /messages/{message_id}/read_receipts': [here, { at: known }],
  'POST /typing': [
    here,
    { form: ({ channel }) => ({ type: 'stream', op: 'start', stream_id: channel, topic: 'roles' }) },
  ],
  'POST /messages/{message_id}/typing': [here, { at: byMe, form: () => ({ op: 'start' }), others: 'BAD_REQUEST' }],
  'POST /submessage': [
    here,
    {
      at: byMe,
      form: (_, { message_id }) => ({
        message_id,
        msg_type: 'widget',
        content: '{"widget_type":"poll","extra_data":{}}',
      }),
      others: 'BAD_REQUEST',
    },
  ],
  'POST /users/me/presence': [people, { form: () => ({ status: 'active' }) }],
  'GET /realm/presence': [signedIn],
  'GET /users/{user_id_or_email}/presence': [
    here,
    {
      at: async ({ realm }) => {
        await realm.member.ok('POST', '/users/me/presence', { status: 'active' });
        return { user_id_or_email: realm.member.user_id };
      },
    },
  ],
  'POST /register': ['oamugbsx', { form: () => ({ fetch_event_types: ['realm'], event_types: [] }) }],
  'GET /events': [
    here,
    {
      at: queue,
      form: (_, { queue_id }) => ({ queue_id, last_event_id: -1, dont_block: true }),
      others: 'BAD_EVENT_QUEUE_ID',
      x: 'BAD_EVENT_QUEUE_ID',
    },
  ],
  'DELETE /events': [
    here,
    { at: queue, form: (_, { queue_id }) => ({ queue_id }), others: 'BAD_EVENT_QUEUE_ID', x: 'BAD_EVENT_QUEUE_ID' },
  ],
  'POST /user_uploads': [signedIn, { file: true }],
  'POST /tus': [signedIn, { headers: { 'upload-length': '81920' } }],
  'GET /tus/{upload_id}': [here, { at: resumable, others: 'NOT_FOUND', no: 'NOT_FOUND' }],
  'PATCH /tus/{upload_id}': [
    here,
    {
      at: resumable,
      headers: { 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
      others: 'NOT_FOUND',
      no: 'NOT_FOUND',
    },
  ],
  'DELETE /tus/{upload_id}': [here, { at: resumable, others: 'NOT_FOUND', no: 'NOT_FOUND' }],
  'GET /user_uploads/{realm_id_str}/{filename}': [
    'u',
    { at: async (cell) => nameOf(await uploaded(cell)), no: 'BAD_REQUEST' },
  ],
  'GET /user_uploads/{realm_id_str}/{folder}/{token}/{filename}': ['u', { at: uploaded, no: 'BAD_REQUEST' }],
  'GET //user_uploads/{realm_id}/{folder}/{token}/{name}': ['u', { at: uploaded, no: '404 USER_DEACTIVATED' }],
  'GET //user_uploads/temporary/{access}/{name}': ['', { at: async () => ({ access: 'none', name: 'a' }), no: '404' }],
  'GET //external_content/{signature}/{address}': [
    '',
    { at: async () => ({ signature: 'none', address: '00' }), no: '404' },
  ],
  'GET /attachments': [signedIn],
  'DELETE /attachments/{attachment_id}': [here, { at: attached, others: 'BAD_REQUEST' }],
  // Refused to all callers, because the realm has no channel for reports.
  'POST /messages/{message_id}/report': ['', { at: known, form: () => ({ report_type: 'spam' }) }],
};
