import { type Actor, maxListedSubscribers } from '@natter/contracts';
import { type Executor, plannedEachTime, sql } from '@natter/database';
import { z } from 'zod';
import type { ChannelRow } from './channel-row.ts';

export type SubscribersChoice = 'true' | 'false' | 'partial';

/** Channels with fewer subscribers are always listed completely. */
const alwaysWhole = 250;
/** Users who were active within this many days are in every partial list. */
const activeDays = 14;

const listRow = z.object({ channel_id: z.number(), users: z.array(z.number()) });

/**
 * The fields that list the subscribers of channels: `subscribers`, or `partial_subscribers` with all bots, recently
 * active users, and the caller. Deactivated users are excluded.
 */
export async function subscriberLists(
  executor: Executor,
  { realmId, userId }: Pick<Actor, 'realmId' | 'userId'>,
  channels: readonly ChannelRow[],
  choice: SubscribersChoice,
): Promise<(channelId: number) => Record<string, number[]>> {
  if (choice === 'false') return () => ({});
  const subscribers = channels.reduce((sum, { subscriber_count }) => sum + subscriber_count, 0);
  const listsLarge = choice === 'true' && subscribers <= maxListedSubscribers;
  const isWhole = ({ subscriber_count }: ChannelRow): boolean => listsLarge || subscriber_count < alwaysWhole;
  const whole = channels.filter(isWhole).map(({ id }) => id);
  const partial = channels.filter((channel) => !isWhole(channel)).map(({ id }) => id);
  const lists = new Map([
    ...(await readWhole(executor, realmId, whole)),
    ...(await readPartial(executor, realmId, partial, userId)),
  ]);
  const isPartial = new Set(partial);
  return (id) => ({ [isPartial.has(id) ? 'partial_subscribers' : 'subscribers']: lists.get(id) ?? [] });
}

type Lists = [number, number[]][];
const listsOf = (rows: readonly z.infer<typeof listRow>[]): Lists =>
  rows.map(({ channel_id, users }) => [channel_id, users]);
const deactivated = (realmId: number) =>
  sql.fragment`SELECT user_id FROM channels.person WHERE realm_id = ${realmId} AND NOT is_active`;

async function readWhole(executor: Executor, realmId: number, channelIds: readonly number[]): Promise<Lists> {
  if (channelIds.length === 0) return [];
  return listsOf(
    await executor.any(sql.type(listRow)`
      SELECT channel_id, json_agg(user_id ORDER BY user_id) AS users FROM channels.subscription
      WHERE channel_id = ANY(${sql.array([...channelIds], 'int4')}) AND is_active AND user_id NOT IN (${deactivated(realmId)})
      GROUP BY channel_id`),
  );
}

/**
 * Starts from the users, because there are fewer of them than subscriptions of large channels. The statement is planned
 * with its values, so that the planner sees the length of the list of channels and uses a hash.
 */
async function readPartial(
  executor: Executor,
  realmId: number,
  channelIds: readonly number[],
  asking: number,
): Promise<Lists> {
  if (channelIds.length === 0) return [];
  return listsOf(
    await executor.any(sql.type(listRow)`
      WITH listed AS MATERIALIZED (
        SELECT user_id FROM channels.activity WHERE realm_id = ${realmId} AND day >= current_date - ${activeDays}::int
        UNION SELECT user_id FROM channels.person WHERE realm_id = ${realmId} AND is_bot
        UNION SELECT ${asking}::int
        EXCEPT ${deactivated(realmId)})
      SELECT ${plannedEachTime} s.channel_id, json_agg(s.user_id ORDER BY s.user_id) AS users
      FROM listed l, LATERAL (SELECT channel_id, user_id FROM channels.subscription
        WHERE realm_id = ${realmId} AND user_id = l.user_id AND is_active AND channel_id = ANY(${sql.array([...channelIds], 'int4')}) OFFSET 0) s
      GROUP BY s.channel_id`),
  );
}
