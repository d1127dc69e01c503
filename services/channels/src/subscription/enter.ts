import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { subscribersOf } from '../channel-events.ts';
import { channelColumns, channelRow } from '../channel-row.ts';
import type { Entered } from './authorization.ts';

/** A channel that is locked, with the names under which it was asked for. */
export interface Named extends Entered {
  asked: readonly string[];
}

const namedRow = channelRow.extend({ asked: z.array(z.string()) });

/**
 * Locks channels by name, in one order for all, so that two requests cannot deadlock, and says who is subscribed to them. Which
 * names differ in case alone is the database's to say, as it keeps them unique. Of one name several may be archived.
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
