import { z } from 'zod';
import { emojiFields, messageFields, recipientFields } from '../model/message-fields.ts';

const int = z.int();
const str = z.string();

const reaction = z.strictObject({
  ...emojiFields,
  user_id: int.describe('The ID of the user who reacted.'),
  user: z
    .strictObject({ id: int.describe('The ID of the user.'), email: str, full_name: str, is_mirror_dummy: z.boolean() })
    .describe('Deprecated: the user who reacted.'),
});

const change = z.strictObject({
  user_id: int.describe('The ID of the user who made the change.'),
  timestamp: int.describe('When the change was made, in seconds since the epoch.'),
  prev_content: str.optional(),
  prev_rendered_content: str.nullable().optional(),
  prev_topic: str.optional(),
  topic: str.describe('The topic after the change, if the topic changed.').optional(),
  prev_stream: int.optional(),
  stream: int.nullable().describe('The ID of the channel after the change, if the channel changed.').optional(),
});

const fields = {
  ...messageFields,
  reactions: z.array(reaction),
  flags: z.array(str).describe('The flags that the message has for the caller, such as `read` or `mentioned`.'),
  last_edit_timestamp: int.describe('When the content was last edited, in seconds since the epoch.').optional(),
  last_moved_timestamp: int.describe('When the message was last moved, in seconds since the epoch.').optional(),
  edit_history: z
    .array(change)
    .describe('Changes of the message, the newest first, as far as the organization shows them.')
    .optional(),
  match_content: str.optional(),
  match_subject: str.optional(),
};

/** A message in an answer. Its type determines the form of its recipients. */
export const messageObject = z
  .discriminatedUnion('type', [
    z.strictObject({ ...fields, ...recipientFields.stream }),
    z.strictObject({ ...fields, ...recipientFields.private }),
  ])
  .describe('The message.');
export type MessageObject = z.output<typeof messageObject>;
