import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { announceMutes, isListed, visibility } from './user-topics.ts';

type Ids = readonly number[];
const userRow = z.object({ user_id: z.number() });

/**
 * Lists of mutes name channels, and only those that the user may read. So they change with a channel. Users whose list
 * names the channel neither before nor after the change are told nothing: they may have lost access to it.
 */
export async function changeOfListed(work: Work, channelId: number, change: () => Promise<unknown>): Promise<void> {
  const before = await whoLists(work, channelId);
  await change();
  announceMutes(work, ascending([...before, ...(await whoLists(work, channelId))]));
}

/** Lists of mutes change for users who begin or cease to read these channels. */
export async function announceMutesIn(work: Work, channelIds: Ids, userIds: Ids): Promise<void> {
  const rows = await work.any(sql.type(userRow)`
    SELECT DISTINCT t.user_id FROM messaging.user_topic t
    WHERE t.realm_id = ${work.realmId} AND t.channel_id = ANY(${sql.array([...channelIds], 'int4')})
      AND t.user_id = ANY(${sql.array([...userIds], 'int4')}) AND t.policy = ${visibility.muted}`);
  announceMutes(work, ascending(rows.map((row) => row.user_id)));
}

async function whoLists(work: Work, channelId: number): Promise<number[]> {
  const rows = await work.any(sql.type(userRow)`
    SELECT DISTINCT t.user_id FROM messaging.user_topic t
    JOIN messaging.channel c ON c.realm_id = t.realm_id AND c.channel_id = t.channel_id
    WHERE t.realm_id = ${work.realmId} AND t.channel_id = ${channelId} AND ${isListed}`);
  return rows.map((row) => row.user_id);
}

const ascending = (ids: Ids): number[] => [...new Set(ids)].sort((a, b) => a - b);
