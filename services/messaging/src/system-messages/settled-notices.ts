import { type Database, sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';

const longestWaitMs = 500;

/**
 * Brings the service's projections up to date, and waits until resulting bot messages are sent, so that the next
 * request finds them.
 */
export function catchUpWithNotices(owner: Owner, hint: (dueSeconds: number) => void): Owner['catchUp'] {
  return async (realmId, basis) => {
    const caughtUp = await owner.catchUp(realmId, basis);
    for (const end = performance.now() + longestWaitMs; await isSpeaking(owner.database, realmId); ) {
      if (performance.now() > end) break;
      hint(Date.now() / 1000);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return caughtUp;
  };
}

/** Older notices wait for something else, such as another service. */
async function isSpeaking(database: Database, realmId: number): Promise<boolean> {
  const { found } = await database.one(sql.type(z.object({ found: z.boolean() }))`
    SELECT EXISTS (SELECT FROM messaging.scheduled_message
      WHERE state = 'waiting' AND kind = 'notice' AND realm_id = ${realmId} AND due_at > clock_timestamp() - interval '2 seconds') AS found`);
  return found;
}
