import { hasId, idsOf } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { visibility } from '../user-topics.ts';
import type { Destination } from './destination.ts';
import type { Params } from './send-params.ts';

/**
 * Returns the users for whom a notice of a bot is unread; it arrives read for all others. Undefined if all receive it
 * unread.
 */
export async function unreadForOf(
  executor: Executor,
  realmId: number,
  destination: Destination,
  { isResolution, readBy }: Pick<Params, 'isResolution' | 'readBy'>,
): Promise<number[] | undefined> {
  // Only a notice that the channel was archived, or changed afterwards, arrives there.
  if (destination.kind === 'channel' && destination.channel.is_archived) return [];
  if (!isResolution && readBy === undefined) return undefined;
  const unread = isResolution ? await unreadOfResolution(executor, realmId, destination) : idsOf(destination.audience);
  return unread.filter((id) => id !== readBy);
}

/**
 * The users for whom a notice about a resolved topic is unread (`resolved_topic_notice_auto_read_policy`): those who
 * chose never, and those who follow the topic unless they chose always.
 */
async function unreadOfResolution(executor: Executor, realmId: number, destination: Destination): Promise<number[]> {
  if (destination.kind !== 'channel') return [];
  const policyIs = (value: string) =>
    sql.fragment`s.realm_id = ${realmId} AND s.name = 'resolved_topic_notice_auto_read_policy' AND s.value = ${JSON.stringify(value)}::jsonb`;
  const rows = await executor.any(sql.type(z.object({ user_id: z.number() }))`
    SELECT s.user_id FROM messaging.personal_setting s WHERE ${policyIs('never')}
    UNION
    SELECT t.user_id FROM messaging.user_topic t
    WHERE t.realm_id = ${realmId} AND t.channel_id = ${destination.channel.channel_id} AND t.topic_key = lower(${destination.topic})
      AND t.policy = ${visibility.followed}
      AND NOT EXISTS (SELECT FROM messaging.personal_setting s WHERE ${policyIs('always')} AND s.user_id = t.user_id)`);
  return rows.map((row) => row.user_id).filter((id) => hasId(destination.audience, id));
}
