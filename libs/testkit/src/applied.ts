import { durableConsumers } from '@natter/contracts';
import { connected } from './copies.ts';

/** Waits until a durable consumer has applied all events of a realm so far. */
export const applied = (realmId: number, schema: string, name: string): Promise<void> =>
  untilNothingWaits(realmId, { schema, name, besides: 'false' });

/**
 * Waits until the bots have sent their messages about all changes of a realm so far. Otherwise such a message can arrive
 * between the requests of a test that looks at everything a user received.
 */
export const noticesSent = (realmId: number): Promise<void> =>
  untilNothingWaits(realmId, {
    schema: 'messaging',
    name: 'notices',
    besides: `EXISTS (SELECT FROM messaging.scheduled_message
      WHERE realm_id = $1 AND kind = 'notice' AND state = 'waiting')`,
  });

interface Waiting {
  schema: string;
  name: string;
  /** A condition over the realm `$1` that also means that something waits. */
  besides: string;
}

async function untilNothingWaits(realmId: number, { schema, name, besides }: Waiting): Promise<void> {
  const consumer = durableConsumers.find((one) => one.service === schema && one.name === name);
  if (!consumer) throw new Error(`There is no consumer ${name} of ${schema}`);
  const query = `SELECT EXISTS (
      SELECT FROM log.event WHERE realm_id = $1 AND concat_ws('/', event->>'type', event->>'op') = ANY ($2)
      AND number > coalesce((SELECT position FROM ${schema}.consumer WHERE realm_id = $1 AND name = $3), 0)
    ) OR ${besides} AS pending`;
  await connected(async (client) => {
    const until = Date.now() + 120_000;
    for (;;) {
      const { rows } = await client.query<{ pending: boolean }>(query, [realmId, consumer.events, name]);
      if (rows[0]?.pending === false) return;
      if (Date.now() > until) throw new Error(`Consumer ${name} of realm ${realmId} does not catch up`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
}
