import { ChatError, maxListedSubscribers } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { Entered } from './authorization.ts';
import { subscribersOf } from './channel-events.ts';
import { channelColumns, channelRow } from './channel-row.ts';

/** A locked channel, with the names in the request that refer to it. */
export interface Named extends Entered {
  asked: readonly string[];
}

const namedRow = channelRow.extend({ asked: z.array(z.string()) });

/**
 * Locks channels by name, always in the same order to prevent deadlocks, and reads their subscribers. The database
 * decides which names differ in case only, because it keeps them unique. Several archived channels may have the same
 * name.
 */
export async function enter(work: Work, names: readonly string[], isArchived = false): Promise<Named[]> {
  if (names.length === 0) return [];
  const asked = sql.array([...names], 'text');
  const rows = await work.any(sql.type(namedRow)`
    SELECT ${channelColumns}, n.asked FROM channels.channel c
    JOIN (SELECT lower(n) AS name, array_agg(n) AS asked FROM unnest(${asked}) n GROUP BY 1) n ON n.name = lower(c.name)
    WHERE c.realm_id = ${work.realmId} AND c.is_archived = ${isArchived}
    ORDER BY c.id FOR UPDATE OF c`);
  if (rows.reduce((sum, { subscriber_count }) => sum + subscriber_count, 0) > maxListedSubscribers)
    throw new ChatError('REQUEST_TOO_LARGE', 'The channels have too many subscribers. Name fewer channels at once.');
  const subscribers = await subscribersOf(
    work,
    rows.map(({ id }) => id),
  );
  return rows.map(({ asked, ...channel }) => ({
    channel,
    asked,
    subscribers: subscribers.get(channel.id) ?? new Set<number>(),
  }));
}
