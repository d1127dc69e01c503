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
    SELECT ${channelColumns}, ARRAY(SELECT n FROM unnest(${asked}) n WHERE lower(n) = lower(c.name)) AS asked FROM channels.channel c
    WHERE c.realm_id = ${work.realmId} AND lower(c.name) = ANY(ARRAY(SELECT lower(n) FROM unnest(${asked}) n)) AND c.is_archived = ${isArchived}
    ORDER BY c.id FOR UPDATE`);
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
