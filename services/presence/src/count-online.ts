import { serverStatusOperations } from '@natter/contracts';
import { type Database, sql } from '@natter/database';
import { type Handlers, handle } from '@natter/service-kit';
import { z } from 'zod';
import { offlineAfterSeconds } from './format.ts';
import { latestKnown } from './hot-state.ts';

const countRow = z.object({ count: z.number().nullable() });

/**
 * Counts people whom presence shows as not offline, in Postgres, which has each post within about a second. `nowMs`:
 * milliseconds of the clock that all processes share.
 */
export const countOnlineHandlers = (database: Database, nowMs: () => number): Handlers => [
  handle(serverStatusOperations.countOnline, async ({ meta: { realmId } }) => {
    const since = Math.floor(nowMs() / 1000) - offlineAfterSeconds;
    const isRecent = sql.fragment`BETWEEN ${since} AND ${latestKnown(nowMs)}`;
    const { count } = await database.one(sql.type(countRow)`
      SELECT CASE WHEN NOT EXISTS (SELECT FROM presence.realm r WHERE r.realm_id = ${realmId} AND r.presence_disabled) THEN (
        SELECT count(*) FROM presence.presence o JOIN presence.person p USING (realm_id, user_id)
        WHERE o.realm_id = ${realmId} AND (o.connected_at ${isRecent} OR o.active_at ${isRecent})
          AND p.is_active AND p.presence_enabled AND NOT p.is_bot) END AS count`);
    return { people_online: count };
  }),
];
