import { type Audience, type BodyOf, emptyTopicDisplayName, idSet, type LogEvent } from '@natter/contracts';
import type { PostingRules } from '../model/channel-cache.ts';
import type { FlagsOfUsers } from '../model/readers.ts';
import type { Change } from './change-decision.ts';
import type { Anchor } from './moved-messages.ts';

interface Changed {
  userId: number;
  anchor: Anchor;
  change: Change;
  messageIds: readonly number[];
  channel: PostingRules | undefined;
  rendered: { html: string; isMeMessage: boolean } | undefined;
  at: number;
  flags: readonly FlagsOfUsers[];
  topicLinks: { text: string; url: string }[];
  audience: Audience;
}

/** `update_message`: the changes and the affected messages. */
export function updateEvent(changed: Changed): LogEvent {
  const { anchor, change, channel, rendered } = changed;
  const body: BodyOf<'update_message'> = {
    user_id: changed.userId,
    rendering_only: false,
    message_id: anchor.id,
    message_ids: changed.messageIds,
    // The flags for users without flags of their own, because they did not receive the message.
    flags: ['read'],
    edit_timestamp: changed.at,
    ...(channel ? { stream_id: channel.channel_id, stream_name: channel.name } : {}),
    ...(change.content === undefined
      ? {}
      : {
          orig_content: anchor.content,
          orig_rendered_content: anchor.rendered_content,
          prev_rendered_content_version: 1,
          content: change.content,
          rendered_content: rendered?.html ?? '',
          is_me_message: rendered?.isMeMessage ?? false,
        }),
    ...(change.topic === undefined && !change.target
      ? {}
      : {
          orig_subject: anchor.topic,
          propagate_mode: change.mode,
        }),
    ...(change.topic === undefined ? {} : { subject: change.topic, topic_links: changed.topicLinks }),
    ...(change.target ? { new_stream_id: change.target.channel_id } : {}),
  };
  const named = {
    ...(body.orig_subject === '' ? { orig_subject: emptyTopicDisplayName } : {}),
    ...(body.subject === '' ? { subject: emptyTopicDisplayName } : {}),
  };
  return {
    type: 'update_message',
    body,
    audience: changed.audience,
    variants: changed.flags.map(({ flags, user_ids }) => ({ audience: { users: idSet(user_ids) }, patch: { flags } })),
    ...(Object.keys(named).length > 0 ? { forms: [{ capability: 'empty_topic_name', is: false, patch: named }] } : {}),
  };
}
