import type { Work } from '@natter/database';
import type { PostingRules } from '../channel-cache.ts';
import { queueNotice } from '../scheduling/notice.ts';
import type { Change, Params } from './change-decision.ts';
import type { Anchor } from './moved-messages.ts';
import { isResolved } from './topic-resolution.ts';

interface Move {
  mover: { id: number; name: string };
  anchor: Anchor;
  channel: PostingRules;
  change: Change;
  movedCount: number;
  /** Whether nothing is left in the old topic. */
  isWhole: boolean;
  params: Pick<Params, 'send_notification_to_old_thread' | 'send_notification_to_new_thread'>;
}

/** The bot's messages that tell readers of a topic where its messages went, came from, or that it is resolved. */
export async function queueMoveNotices(work: Work, move: Move): Promise<void> {
  const { anchor, channel, change, mover, movedCount, isWhole, params } = move;
  const target = change.target ?? channel;
  const topic = change.topic ?? anchor.topic;
  const by = `@_**${mover.name}|${mover.id}**`;
  const say = (to: PostingRules, subject: string, content: string, isResolution = false): Promise<void> =>
    queueNotice(work, {
      from: 'Notification Bot',
      to: { channelId: to.channel_id, topic: subject },
      content,
      isResolution,
    });
  if (change.isResolveToggle && isWhole) {
    await say(target, topic, `${by} has marked this topic as ${isResolved(topic) ? 'resolved' : 'unresolved'}.`, true);
    return;
  }
  // Everybody on the web reads the new place, and may not know of the old one.
  const isPublished = target.is_web_public && !channel.is_web_public;
  const oldPlace = isPublished ? 'another channel' : linkTo(channel.name, anchor.topic);
  const newPlace = linkTo(target.name, topic);
  const what = isWhole ? 'This topic was' : movedCount === 1 ? 'A message was' : `${movedCount} messages were`;
  if (params.send_notification_to_new_thread) await say(target, topic, `${what} moved here from ${oldPlace} by ${by}.`);
  if (params.send_notification_to_old_thread)
    await say(channel, anchor.topic, `${what} moved ${isWhole ? '' : 'from this topic '}to ${newPlace} by ${by}.`);
}

const linkTo = (channel: string, topic: string): string =>
  topic === '' ? `#**${channel}>**` : `#**${channel}>${topic}**`;
