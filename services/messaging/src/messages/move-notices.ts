import type { Work } from '@natter/database';
import type { PostingRules } from '../model/channel-cache.ts';
import { placeLink, userMention } from '../model/names-in-notices.ts';
import { queueNotice } from '../model/notice.ts';
import { isResolved } from '../model/topic-resolution.ts';
import type { Change, Params } from './change-decision.ts';
import type { Anchor } from './moved-messages.ts';

interface Move {
  mover: { id: number; name: string };
  anchor: Anchor;
  channel: PostingRules;
  change: Change;
  movedCount: number;
  /** Whether the old topic is now empty. */
  isWhole: boolean;
  params: Pick<Params, 'send_notification_to_old_thread' | 'send_notification_to_new_thread'>;
}

/** Bot messages that inform the readers of a topic where its messages were moved to or from, or that it was resolved. */
export async function queueMoveNotices(work: Work, move: Move): Promise<void> {
  const { anchor, channel, change, mover, movedCount, isWhole, params } = move;
  const target = change.target ?? channel;
  const topic = change.topic ?? anchor.topic;
  const by = userMention(mover.name, mover.id);
  const say = (to: PostingRules, subject: string, content: string, isResolution = false): Promise<void> =>
    queueNotice(work, {
      from: 'Notification Bot',
      to: { channelId: to.channel_id, topic: subject },
      content,
      ...(isResolution ? { isResolution, readBy: mover.id } : {}),
    });
  if (change.isResolveToggle && isWhole) {
    await say(target, topic, `${by} has marked this topic as ${isResolved(topic) ? 'resolved' : 'unresolved'}.`, true);
    return;
  }
  // The new place is web-public, so its notice must not reveal the old one.
  const isPublished = target.is_web_public && !channel.is_web_public;
  const oldPlace = isPublished ? 'another channel' : placeLink(channel.name, anchor.topic);
  const newPlace = placeLink(target.name, topic);
  const what = isWhole ? 'This topic was' : movedCount === 1 ? 'A message was' : `${movedCount} messages were`;
  if (params.send_notification_to_new_thread) await say(target, topic, `${what} moved here from ${oldPlace} by ${by}.`);
  if (params.send_notification_to_old_thread)
    await say(channel, anchor.topic, `${what} moved ${isWhole ? '' : 'from this topic '}to ${newPlace} by ${by}.`);
}
