import { type Handled, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { announceMutesIn } from '../changed-mutes.ts';
import { readWhatIsLeft } from '../mark-read.ts';
import { boundPeriods } from './bounded-periods.ts';

type Ids = readonly number[];
const userRow = z.object({ user_id: z.number() });

/**
 * What one transaction does for users who leave, in messages that become read; a user costs as much as some messages.
 * Thousands of users, or bots, may leave at once, each with thousands of unread messages.
 */
const budget = 10_000;
const perUser = 250;
const spent = new WeakMap<Work, number>();

/**
 * Ends subscription periods at an event. Messages of the channels become read: in this transaction as far as its budget
 * lasts, and the rest in the following ones.
 */
export async function leaveChannels(work: Work, number: number, channelIds: Ids, userIds: Ids): Promise<Handled> {
  if (isSpent(work)) return 'unfinished';
  const left = await endPeriods(work, number, channelIds, userIds);
  if (left.length > 0) await announceMutesIn(work, channelIds, left);
  const stored = left.length > 0 ? [] : await waitingSince(work, number);
  const waiting = [...left, ...stored];
  let done = 0;
  while (done < waiting.length && !isSpent(work)) {
    const count = await readWhatIsLeft(work, waiting[done] as number, channelIds, budget);
    spent.set(work, (spent.get(work) ?? 0) + perUser + count);
    // There may be more than the budget.
    if (count < budget) done++;
  }
  if (stored.length > 0) await remove(work, number, waiting.slice(0, done));
  else await store(work, number, waiting.slice(done));
  return done < waiting.length ? 'unfinished' : undefined;
}

const isSpent = (work: Work): boolean => (spent.get(work) ?? 0) >= budget;

/** Returns the users of the periods, ascending. There are none if an earlier transaction ended them. */
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

async function waitingSince(work: Work, number: number): Promise<number[]> {
  const rows = await work.any(sql.type(userRow)`
    SELECT user_id FROM messaging.leaving WHERE realm_id = ${work.realmId} AND number = ${number} ORDER BY user_id`);
  return rows.map((row) => row.user_id);
}

async function store(work: Work, number: number, userIds: Ids): Promise<void> {
  if (userIds.length === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO messaging.leaving (realm_id, number, user_id)
    SELECT ${work.realmId}, ${number}, id FROM unnest(${sql.array([...userIds], 'int4')}) id`);
}

async function remove(work: Work, number: number, userIds: Ids): Promise<void> {
  await work.run(sql.unsafe`
    DELETE FROM messaging.leaving
    WHERE realm_id = ${work.realmId} AND number = ${number} AND user_id = ANY(${sql.array([...userIds], 'int4')})`);
}
