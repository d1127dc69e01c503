import { z } from 'zod';
import { attachmentSchema } from '../operations/uploads.ts';
import { bool, int, ints, message, reaction, str } from './shapes.ts';

const ownTopic = { stream_id: int, topic: str };
/** All of these fields, or none. */
const together =
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
    z.strictObject({ type: z.literal('channel'), channel_id: int, topic: str }),
    z.strictObject({ type: z.literal('direct'), user_ids: ints }),
  ]),
});

const deletedIn = {
  stream: { message_type: z.literal('stream'), ...ownTopic },
  direct: { message_type: z.literal('private') },
};
const details = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stream'),
    ...ownTopic,
    mentioned: z.literal(true).optional(),
    unmuted_stream_msg: bool.optional(),
  }),
  z.strictObject({ type: z.literal('private'), user_ids: ints, mentioned: z.literal(true).optional() }),
]);
const flags = { flag: str, messages: ints, all: z.literal(false) };
const attachment = z.strictObject({ attachment: attachmentSchema.strict(), upload_space_used: int });

/** Messages, and what happens to them. */
export const messageEvents = {
  message: z.strictObject({ message, flags: z.array(str), local_message_id: str.optional() }),
  update_message: z
    .strictObject({
      user_id: int.nullable(),
      rendering_only: bool,
      message_id: int,
      message_ids: ints,
      flags: z.array(str),
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
      topic_links: z.array(z.strictObject({ text: str, url: str })).optional(),
      propagate_mode: z.enum(['change_one', 'change_later', 'change_all']).optional(),
      new_stream_id: int.optional(),
    })
    .refine(together('stream_id', 'stream_name'), 'a channel has an id and a name')
    .refine(
      together('orig_content', 'orig_rendered_content', 'content', 'rendered_content', 'is_me_message'),
      'an edit of the content tells of all its parts',
    )
    .refine(together('orig_subject', 'subject', 'topic_links', 'propagate_mode'), 'a move tells of all its parts')
    .refine(
      (body) => body.new_stream_id === undefined || body.propagate_mode !== undefined,
      'a move tells how far it goes',
    ),
  delete_message: z.union([
    z.strictObject({ ...deletedIn.stream, message_ids: ints }),
    z.strictObject({ ...deletedIn.stream, message_id: int }),
    z.strictObject({ ...deletedIn.direct, message_ids: ints }),
    z.strictObject({ ...deletedIn.direct, message_id: int }),
  ]),
  'reaction/add': z.strictObject({ ...reaction, message_id: int }),
  'reaction/remove': z.strictObject({ ...reaction, message_id: int }),
  submessage: z.strictObject({ msg_type: str, content: str, message_id: int, sender_id: int, submessage_id: int }),
  'update_message_flags/add': z.strictObject({ ...flags, operation: z.literal('add') }),
  'update_message_flags/remove': z
    .strictObject({ ...flags, operation: z.literal('remove'), message_details: z.record(str, details).optional() })
    .refine(
      ({ flag, message_details }) => (flag === 'read') === (message_details !== undefined),
      'what became unread is described, and nothing else',
    ),
  'typing/start': typing,
  'typing/stop': typing,
  'typing_edit_message/start': typingEdit,
  'typing_edit_message/stop': typingEdit,
  'attachment/add': attachment,
  'attachment/update': attachment,
  'attachment/remove': z.strictObject({ attachment: z.strictObject({ id: int }), upload_space_used: int }),
};
