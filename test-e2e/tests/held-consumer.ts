import { applied, connected } from '@natter/testkit';

interface Consumer {
  realmId: number;
  schema: string;
  name: string;
}

/** Runs `work` while this consumer applies no events, for this time at most. It has applied all events before. */
export async function whileConsumerIsHeld<R>(
  { realmId, schema, name }: Consumer,
  ms: number,
  work: (isHeld: () => boolean) => Promise<R>,
): Promise<R> {
  await applied(realmId, schema, name);
  return connected(async (holder) => {
    let isHeld = true;
    await holder.query('BEGIN');
    const position = `SELECT FROM ${schema}.consumer WHERE realm_id = $1 AND name = $2 FOR UPDATE`;
    // In a new realm, the consumer has no position at first.
    while ((await holder.query(position, [realmId, name])).rowCount === 0)
      await new Promise((resolve) => setTimeout(resolve, 100));
    const done = work(() => isHeld);
    await Promise.race([done.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, ms))]);
    isHeld = false;
    await holder.query('COMMIT');
    return done;
  });
}
