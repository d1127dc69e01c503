import { durableConsumers } from '@natter/contracts';
import { connected } from './copies.ts';

const events = durableConsumers.find(({ service, name }) => service === 'messaging' && name === 'notices')?.events;

/**
 * Waits until the bots have sent their messages about all changes of a realm so far. Otherwise such a message can arrive
 * between the requests of a test that looks at everything a user received.
 */
export async function noticesSent(realmId: number): Promise<void> {
  await connected(async (client) => {
    const until = Date.now() + 120_000;
    for (;;) {
      const { rows } = await client.query<{ pending: boolean }>(
        `SELECT EXISTS (
           SELECT FROM log.event WHERE realm_id = $1 AND concat_ws('/', event->>'type', event->>'op') = ANY ($2)
           AND number > coalesce((SELECT position FROM messaging.consumer WHERE realm_id = $1 AND name = 'notices'), 0)
         ) OR EXISTS (
           SELECT FROM messaging.scheduled_message WHERE realm_id = $1 AND kind = 'notice' AND state = 'waiting'
         ) AS pending`,
        [realmId, events],
      );
      if (rows[0]?.pending === false) return;
      if (Date.now() > until) throw new Error(`Notices of realm ${realmId} were not sent`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}
