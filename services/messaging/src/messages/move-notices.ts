import type { Work } from '@natter/database';
import { messageAddress } from '@natter/markdown';
import type { PostingRules } from '../model/channel-cache.ts';
import { queueNotice } from '../model/notice.ts';
import { addressLink, type NoticeText, notice, placeLink, userMention } from '../model/notice-text.ts';
import { nameOf } from '../model/people.ts';
import { isResolved } from '../model/topic-resolution.ts';
import { type Change, isOnlyResolution, type Params } from './change-decision.ts';
import type { Anchor } from './moved-messages.ts';
import { removeRecentNotice } from './undo-resolution.ts';

export interface Move {
  moverId: number;
  anchor: Anchor;
  channel: PostingRules;
  change: Change;
  messageIds: readonly number[];
  /** Whether no message of the old topic is left, as the mover sees it. */
  isWhole: boolean;
  /** Whether the new topic had no messages, as the mover sees it. */
  isNew: boolean;
  /** Whether the move is the end of a resolution whose notice was not sent yet. */
  isUndone: boolean;
  params: Pick<Params, 'send_notification_to_old_thread' | 'send_notification_to_new_thread'>;
}

/** Bot messages that inform the readers of a topic where its messages were moved to or from, or that it was resolved. */
export async function queueMoveNotices(work: Work, move: Move): Promise<void> {
  const { moverId, anchor, channel, change, messageIds, isWhole, isNew, params } = move;
  const target = change.target ?? channel;
  const topic = change.topic ?? anchor.topic;
  const by = userMention((await nameOf(work, work.realmId, moverId)) ?? '', moverId);
  const say = (to: PostingRules, subject: string, content: NoticeText, isResolution = false): Promise<void> => {
    const place = { channelId: to.channel_id, topic: subject };
    return queueNotice(work, { from: 'Notification Bot', to: place, content, isResolution, readBy: moverId });
  };
  const count = messageIds.length;
  if (isOnlyResolution(change)) {
    const isUndone = move.isUndone || (await removeRecentNotice(work, channel, topic, moverId));
    const now = isResolved(topic) ? notice`resolved` : notice`unresolved`;
    if (!isUndone) await say(channel, topic, notice`${by} has marked this topic as ${now}.`, true);
  } else if (params.send_notification_to_new_thread && (change.target || !change.isResolveToggle)) {
    // The new place is web-public, so its notice must not reveal the old one.
    const isPublished = target.is_web_public && !channel.is_web_public;
    const oldPlace = isPublished ? notice`another channel` : placeLink(channel, anchor.topic);
    const address = messageAddress({ id: target.channel_id, name: target.name }, topic, anchor.id);
    const some = count === 1 ? notice`${addressLink(notice`A message`, address)} was` : notice`${count} messages were`;
    const what = isWhole && isNew ? notice`This topic was` : some;
    await say(target, topic, notice`${what} moved here from ${oldPlace} by ${by}.`);
  }
  if (params.send_notification_to_old_thread) {
    const some = notice`${count === 1 ? notice`A message was` : notice`${count} messages were`} moved from this topic`;
    const what = isWhole ? notice`This topic was moved` : some;
    await say(channel, anchor.topic, notice`${what} to ${placeLink(target, topic)} by ${by}.`);
  }
}
