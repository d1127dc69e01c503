import { z } from 'zod';
import { topicLinks } from '../model/message-fields.ts';
import { attachmentSchema } from '../operations/uploads.ts';
import { eventsOf } from './declare.ts';
import { bool, int, ints, loggedMessage, message, reaction, str } from './shapes.ts';

export type LoggedMessage = z.output<typeof loggedMessage>;

const ownTopic = { stream_id: int, topic: str };
/** Accepts a body with all of these fields, or with none. */
const allOrNone =
  (...names: string[]) =>
  (body: object): boolean => {
    const given = names.filter((name) => name in body).length;
    return given === 0 || given === names.length;
  };

const typist = z.strictObject({ user_id: int, email: str });
const typing = z.discriminatedUnion('message_type', [
  z.strictObject({ message_type: z.literal('direct'), sender: typist, recipients: z.array(typist) }),
  z.strictObject({ message_type: z.literal('stream'), sender: typist, ...ownTopic }),
]);
const typingEdit = z.strictObject({
  sender_id: int,
  message_id: int,
  recipient: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('channel').describe('A channel message.'), channel_id: int, topic: str }),
    z.strictObject({ type: z.literal('direct').describe('A direct message.'), user_ids: ints }),
  ]),
});

const deletedIn = {
  stream: { message_type: z.literal('stream'), ...ownTopic },
  direct: { message_type: z.literal('private') },
};
const details = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stream').describe('A channel message.'),
    ...ownTopic,
    mentioned: z.literal(true).optional(),
    unmuted_stream_msg: bool.optional(),
  }),
  z.strictObject({
    type: z.literal('private').describe('A direct message.'),
    user_ids: ints.describe('The IDs of the other participants.'),
    mentioned: z.literal(true).optional(),
  }),
]);
/** Fields with which a client counts a message that became unread and that it has not loaded. */
export type UnreadDetails = z.output<typeof details>;
const flags = { flag: str, messages: ints.describe('The IDs of the messages.'), all: z.literal(false) };
const attachment = z.strictObject({ attachment: attachmentSchema.strict(), upload_space_used: int });

const updatedMessage = z
  .strictObject({
    user_id: int.nullable(),
    rendering_only: bool,
    message_id: int,
    message_ids: ints,
    flags: z
      .array(str)
      .describe(
        'The flags that the message `message_id` has for the receiver. Those that the receiver sets, such as `read` and `starred`, may be older here than in the last `update_message_flags`.',
      ),
    edit_timestamp: int,
    stream_id: int.optional(),
    stream_name: str.optional(),
    orig_content: str.optional(),
    orig_rendered_content: str.optional(),
    prev_rendered_content_version: int.optional(),
    content: str.optional(),
    rendered_content: str.optional(),
    is_me_message: bool.optional(),
    orig_subject: str.optional(),
    subject: str.optional(),
    topic_links: topicLinks.optional(),
    propagate_mode: z.enum(['change_one', 'change_later', 'change_all']).optional(),
    new_stream_id: int.optional(),
  })
  .refine(allOrNone('stream_id', 'stream_name'), 'a channel has an id and a name')
  .refine(
    (body) =>
      body.rendering_only ||
      allOrNone('orig_content', 'orig_rendered_content', 'content', 'rendered_content', 'is_me_message')(body),
    'an edit of the content has all of its fields',
  )
  .refine(
    ({ rendering_only, user_id, ...body }) =>
      rendering_only === (user_id === null) &&
      (!rendering_only ||
        (body.rendered_content !== undefined && body.orig_content === undefined && body.subject === undefined)),
    'a message that is only rendered again has its content, and no user who changed it',
  )
  .refine(allOrNone('orig_subject', 'propagate_mode'), 'a move has its mode and the topic before')
  .refine(allOrNone('subject', 'topic_links'), 'a new topic has its links')
  .refine(
    (body) => (body.subject !== undefined || body.new_stream_id !== undefined) === (body.propagate_mode !== undefined),
    'a move has a new topic or a new channel',
  );

const event = eventsOf('messaging');

/** Events about messages, their flags, reactions, topics and files. */
export const messageEvents = {
  message: event('A message was sent. Its id is the number of the entry.', {
    audience: 'users',
    body: z.strictObject({ message: loggedMessage }),
    view: z.strictObject({
      message: message.describe('The message.'),
      flags: z.array(str).describe('The flags that the message has for the receiver, such as `read` or `mentioned`.'),
      local_message_id: str.optional(),
    }),
  }),
  update_message: event(
    'Messages were edited or moved, or previews of linked web pages were added (`rendering_only`).',
    {
      audience: 'either',
      body: updatedMessage,
    },
  ),
  delete_message: event('Messages were deleted, or access to them was lost.', {
    audience: 'either',
    body: z.union([z.strictObject(deletedIn.stream), z.strictObject(deletedIn.direct)]),
    view: z.union([
      z.strictObject({ ...deletedIn.stream, message_ids: ints }),
      z.strictObject({ ...deletedIn.stream, message_id: int }),
      z.strictObject({ ...deletedIn.direct, message_ids: ints }),
      z.strictObject({ ...deletedIn.direct, message_id: int }),
    ]),
  }),
  'reaction/add': event('Somebody reacted to a message.', {
    audience: 'either',
    body: z.strictObject({ ...reaction, message_id: int }),
  }),
  'reaction/remove': event('Somebody took a reaction back.', {
    audience: 'either',
    body: z.strictObject({ ...reaction, message_id: int }),
  }),
  submessage: event('Somebody used a widget of a message.', {
    audience: 'either',
    body: z.strictObject({
      msg_type: str,
      content: str.describe('JSON text that the widget understands.'),
      message_id: int,
      sender_id: int,
      submessage_id: int,
    }),
  }),
  'update_message_flags/add': event("Messages got a flag of the receiver's.", {
    audience: 'users',
    body: z.strictObject({ ...flags, operation: z.literal('add') }),
  }),
  'update_message_flags/remove': event("Messages lost a flag of the receiver's.", {
    audience: 'users',
    body: z
      .strictObject({ ...flags, operation: z.literal('remove'), message_details: z.record(str, details).optional() })
      .refine(
        ({ flag, message_details }) => (flag === 'read') === (message_details !== undefined),
        'what became unread is described, and nothing else',
      ),
  }),
  'typing/start': event('Somebody is typing.', { audience: 'users', body: typing }),
  'typing/stop': event('Somebody stopped typing.', { audience: 'users', body: typing }),
  'typing_edit_message/start': event('Somebody is editing a message.', { audience: 'users', body: typingEdit }),
  'typing_edit_message/stop': event('Somebody stopped editing a message.', { audience: 'users', body: typingEdit }),
  'attachment/add': event('A file was uploaded.', { audience: 'users', body: attachment }),
  'attachment/update': event('Other messages refer to a file.', { audience: 'users', body: attachment }),
  'attachment/remove': event('A file was deleted.', {
    audience: 'users',
    body: z.strictObject({
      attachment: z.strictObject({ id: int.describe('The ID of the uploaded file.') }),
      upload_space_used: int,
    }),
  }),
  user_topic: event('The preference of the receiver for a topic changed.', {
    audience: 'users',
    body: z.strictObject({
      stream_id: int,
      topic_name: str,
      last_updated: int,
      visibility_policy: z.int().min(0).max(3),
    }),
  }),
  muted_topics: event('The muted topics of the receiver, all of them; for clients without `user_topic`.', {
    audience: 'users',
    body: z.strictObject({ muted_topics: z.array(z.tuple([str, str, int])) }),
  }),
};
