import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { PostingRules } from '../model/channel-cache.ts';
import { isOpenTo } from '../model/subscription-periods.ts';
import { moveTopicPreferences } from '../model/user-topics.ts';
import { followBegun } from './begun-topic.ts';
import { readersAmong } from './change-receivers.ts';
import { type Move, queueMoveNotices } from './move-notices.ts';

interface Topic {
  channel: PostingRules;
  topic: string;
}

/**
 * Does what follows from a move of messages of a channel: topic preferences of users who can follow are moved with a
 * whole topic, and a bot informs the readers. The mover learns nothing about messages that they do not see.
 */
export async function followMove(work: Work, move: Omit<Move, 'isWhole' | 'isNew'>): Promise<void> {
  const { moverId, anchor, channel, change, messageIds } = move;
  const from = { channel, topic: anchor.topic };
  const to = { channel: change.target ?? channel, topic: change.topic ?? anchor.topic };
  const isWhole = change.mode === 'change_all' || !(await hasOthers(work, from, messageIds, moverId));
  const exists = await hasOthers(work, to, messageIds);
  if (isWhole) await moveTopicPreferences(work, placeOf(work, from), { ...placeOf(work, to), exists });
  else await followBegun(work, anchor, messageIds, to);
  const isNew = !exists || !(await hasOthers(work, to, messageIds, moverId));
  await queueMoveNotices(work, { ...move, isWhole, isNew });
}

const placeOf = (work: Work, { channel, topic }: Topic) => ({
  channelId: channel.channel_id,
  topic,
  readersAmong: (userIds: readonly number[]) => readersAmong(work, channel, userIds),
});

/** Whether a topic has other messages than these; with `seenBy`, among those that this user sees. */
async function hasOthers(
  work: Work,
  { channel, topic }: Topic,
  messageIds: readonly number[],
  seenBy?: number,
): Promise<boolean> {
  const { found } = await work.one(sql.type(z.object({ found: z.boolean() }))`
    SELECT EXISTS (SELECT FROM messaging.message m
      WHERE m.realm_id = ${work.realmId} AND m.channel_id = ${channel.channel_id} AND lower(m.topic) = lower(${topic})
        AND m.id <> ALL(${sql.array([...messageIds], 'int8')})
        AND ${seenBy === undefined ? sql.fragment`true` : isOpenTo(seenBy, channel)}) AS found`);
  return found;
}
