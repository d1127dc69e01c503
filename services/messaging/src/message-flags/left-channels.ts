import { type Database, sql } from '@natter/database';
import { type Background, forEachApart, repeat, type Stop } from '@natter/service-kit';
import { z } from 'zod';
import { continueLeaving } from '../model/reading/leave-channels.ts';

const lookEveryMs = 1_000;
/** Users of one realm in a round; other realms wait for them. */
const perRealm = 100;
const leavingRow = z.object({ realm_id: z.number(), user_id: z.number(), number: z.number() });

/**
 * Marks messages as read for users who left channels, as far as the event itself did not. Each user is a transaction of
 * their own. Several processes may do this.
 */
export const readLeftChannels = (
  { database, background }: { database: Database; background: Background },
  onError: (error: unknown, context?: object) => void,
): Stop =>
  repeat({ everyMs: lookEveryMs, onError }, async (isStopped) => {
    for (let hasMore = true; hasMore && !isStopped(); ) {
      hasMore = false;
      await forEachApart(await nextLeaving(database), { isStopped, onError }, async (row) => {
        const one = { number: row.number, userId: row.user_id };
        const outcome = await background(row.realm_id, (work) => continueLeaving(work, one));
        if (outcome) hasMore = true;
        return outcome;
      });
    }
  });

/** In random order, so that users for whom it fails keep no others waiting. */
const nextLeaving = (database: Database) =>
  database.any(sql.type(leavingRow)`
    WITH RECURSIVE realm (id) AS (
      (SELECT realm_id FROM messaging.left_channels ORDER BY realm_id LIMIT 1)
      UNION ALL
      SELECT n.realm_id FROM realm r CROSS JOIN LATERAL (
        SELECT realm_id FROM messaging.left_channels l WHERE l.realm_id > r.id ORDER BY realm_id LIMIT 1) n)
    SELECT l.realm_id, l.user_id, l.number FROM realm r CROSS JOIN LATERAL (
      SELECT realm_id, user_id, number FROM messaging.left_channels WHERE realm_id = r.id ORDER BY random() LIMIT ${perRealm}) l
    ORDER BY random()`);
