import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { announceMutesIn } from '../changed-mutes.ts';
import { type Left, readWhatIsLeft } from '../mark-read.ts';
import { boundPeriods } from './bounded-periods.ts';

type Ids = readonly number[];
const userRow = z.object({ user_id: z.number() });

/**
 * Maximum work of one transaction for users who leave, as a number of messages that become read. Each user counts as
 * `perUser` messages. Thousands of users or bots may leave at once, each with thousands of unread messages.
 */
const budget = 10_000;
const perUser = 250;
const spent = new WeakMap<Work, number>();

/**
 * Ends subscription periods at an event. Messages of the channels become read: in this transaction as far as its budget lasts,
 * and the rest later, so that no other event waits for them.
 */
export async function leaveChannels(work: Work, number: number, channelIds: Ids, userIds: Ids): Promise<void> {
  const left = await endPeriods(work, number, channelIds, userIds);
  if (left.length === 0) return takeOver(work, { number, channelIds });
  await announceMutesIn(work, channelIds, left);
  let done = 0;
  while ((spent.get(work) ?? 0) < budget) {
    const userId = left[done];
    if (userId === undefined) break;
    const count = await readWhatIsLeft(work, userId, { number, channelIds }, budget);
    spent.set(work, (spent.get(work) ?? 0) + perUser + count);
    // If the count reaches the budget, the user may have more unread messages.
    if (count < budget) done++;
  }
  await store(work, { number, channelIds }, left.slice(done));
}

/** Returns the users of the periods, ascending. There are none if the event was handled before. */
async function endPeriods(work: Work, number: number, channelIds: Ids, userIds: Ids): Promise<number[]> {
  const [users, channels] = [sql.array([...userIds], 'int4'), sql.array([...channelIds], 'int4')];
  const ended = await work.any(sql.type(userRow)`
    WITH ended AS (
      UPDATE messaging.subscription_period SET to_id = ${number}
      WHERE realm_id = ${work.realmId} AND to_id IS NULL AND user_id = ANY(${users}) AND channel_id = ANY(${channels})
      RETURNING user_id)
    SELECT DISTINCT user_id FROM ended ORDER BY user_id`);
  await boundPeriods(work, { number, channelIds, userIds });
  return ended.map((row) => row.user_id);
}

async function store(work: Work, { number, channelIds }: Left, userIds: Ids): Promise<void> {
  if (userIds.length === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO messaging.left_channels (realm_id, user_id, number, channel_ids)
    SELECT ${work.realmId}, id, ${number}, ${sql.array([...channelIds], 'int4')} FROM unnest(${sql.array([...userIds], 'int4')}) id`);
}

/** A process of the previous release may have handled a part of the event. The next release drops its table. */
async function takeOver(work: Work, { number, channelIds }: Left): Promise<void> {
  await work.run(sql.unsafe`
    WITH rest AS (DELETE FROM messaging.leaving WHERE realm_id = ${work.realmId} AND number = ${number} RETURNING user_id)
    INSERT INTO messaging.left_channels (realm_id, user_id, number, channel_ids)
    SELECT ${work.realmId}, user_id, ${number}, ${sql.array([...channelIds], 'int4')} FROM rest`);
}

const leftRow = z.object({ number: z.number(), channel_ids: z.array(z.number()) });

/**
 * The messages of channels that the user left become read. Call it before the user marks messages as unread, and before
 * `lockFlags`: otherwise these messages would become read afterwards.
 */
export async function finishLeaving(work: Work, userId: number): Promise<void> {
  const rows = await work.any(sql.type(leftRow)`
    DELETE FROM messaging.left_channels WHERE realm_id = ${work.realmId} AND user_id = ${userId} RETURNING number, channel_ids`);
  for (const { number, channel_ids } of rows) await readWhatIsLeft(work, userId, { number, channelIds: channel_ids });
}

/** Continues with one user who left channels. Returns undefined if another transaction does that, `more` if messages remain. */
export async function continueLeaving(
  work: Work,
  { number, userId }: { number: number; userId: number },
): Promise<'more' | 'done' | undefined> {
  const row = sql.fragment`messaging.left_channels WHERE realm_id = ${work.realmId} AND user_id = ${userId} AND number = ${number}`;
  const left = await work.maybeOne(sql.type(leftRow)`SELECT number, channel_ids FROM ${row} FOR UPDATE SKIP LOCKED`);
  if (!left) return undefined;
  const count = await readWhatIsLeft(work, userId, { number, channelIds: left.channel_ids }, budget);
  if (count === budget) return 'more';
  await work.run(sql.unsafe`DELETE FROM ${row}`);
  return 'done';
}
