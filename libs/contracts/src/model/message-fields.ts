import { z } from 'zod';

/** The fields of a message, in events and in answers. */
const int = z.int();
const str = z.string();
const bool = z.boolean();

export const emojiFields = {
  emoji_name: str,
  emoji_code: str,
  reaction_type: z.enum(['unicode_emoji', 'realm_emoji', 'zulip_extra_emoji']),
};

const participant = z.strictObject({
  id: int.describe('The ID of the user.'),
  email: str,
  full_name: str,
  is_mirror_dummy: bool,
});

export const topicLinks = z.array(
  z.strictObject({
    text: str.describe('The part of the topic that is the link.'),
    url: str.describe('The address of the link.'),
  }),
);

export const submessageFields = {
  id: int.describe('The ID of the submessage.'),
  sender_id: int,
  msg_type: str,
  content: str.describe('JSON text that the widget understands.'),
};

/** The fields of a message, without reactions and flags. */
export const messageFields = {
  id: int.describe('The ID of the message.'),
  avatar_url: str.nullable(),
  client: str,
  content: str.describe('The content, in the format that `content_type` names.'),
  content_type: z.enum(['text/html', 'text/x-markdown']),
  is_me_message: bool,
  recipient_id: int,
  sender_email: str,
  sender_full_name: str,
  sender_id: int,
  sender_realm_str: str,
  subject: str,
  submessages: z.array(z.strictObject({ ...submessageFields, message_id: int })),
  timestamp: int.describe('When the message was sent, in seconds since the epoch.'),
  topic_links: topicLinks,
};

export const recipientFields = {
  stream: {
    type: z.literal('stream').describe('A channel message.'),
    stream_id: int,
    display_recipient: str.describe('The name of the channel.'),
  },
  private: {
    type: z.literal('private').describe('A direct message.'),
    display_recipient: z.array(participant).describe('All participants of the conversation, including the sender.'),
  },
};
