import { ChatError, maxListedSubscribers } from '@natter/contracts';
import { type Fragment, sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { Entered } from './authorization.ts';
import { subscribersOf } from './channel-events.ts';
import { channelColumns, channelRow } from './channel-row.ts';

/** A locked channel, with the names in the request that refer to it. */
export interface Named extends Entered {
  asked: readonly string[];
}

export const namedRow = channelRow.extend({ asked: z.array(z.string()) });

/** Names in a request, by the form in which the database compares names of channels. */
export const askedFor = (names: readonly string[]): Fragment =>
  sql.fragment`(SELECT lower(n) AS name, array_agg(n) AS asked FROM unnest(${sql.array([...names], 'text')}) n GROUP BY 1) n`;

/**
 * Locks active channels by name before several calls of `enter`: units that would lock the same channels in another order
 * could wait for each other.
 */
export async function lockNamed(work: Work, names: readonly string[]): Promise<void> {
  await work.run(sql.unsafe`
    SELECT FROM channels.channel c JOIN ${askedFor(names)} ON n.name = lower(c.name)
    WHERE c.realm_id = ${work.realmId} AND NOT c.is_archived ORDER BY c.id FOR UPDATE OF c`);
}

/**
 * Locks channels by name, always in the same order to prevent deadlocks, and reads their subscribers. The database
 * decides which names differ in case only, because it keeps them unique. Several archived channels may have the same
 * name.
 */
export async function enter(work: Work, names: readonly string[], isArchived = false): Promise<Named[]> {
  if (names.length === 0) return [];
  const rows = await work.any(sql.type(namedRow)`
    SELECT ${channelColumns}, n.asked FROM channels.channel c JOIN ${askedFor(names)} ON n.name = lower(c.name)
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
