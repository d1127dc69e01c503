import { type IdSet, idsOf } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { isCopied } from '../model/reading/channel-copy.ts';
import type { SnapshotFor } from '../model/snapshot-for.ts';

const waitingRow = z.object({
  name: z.string(),
  property: z.string().nullable(),
  changed: z.array(z.number()).nullable(),
  audience: z.custom<'realm' | { users: IdSet }>(),
});
type Waiting = z.infer<typeof waitingRow>;

/** More waiting events are not examined: one of them probably concerns the user. */
const maxExamined = 100;

/**
 * Whether the log contains an event that concerns this user, and that the consumer `periods` has not applied. The periods
 * determine which messages a user has received, and the event of a message does not repeat this: without such a period,
 * messages that the user has already received would be missing in `unread_msgs` for the life of the queue.
 */
export async function isBehindFor(executor: Executor, { realmId, userId }: SnapshotFor): Promise<boolean> {
  const waiting = await executor.any(sql.type(waitingRow)`
    SELECT concat_ws('/', e.event->>'type', e.event->>'op') AS name, e.event->'body'->>'property' AS property,
      e.event->'note'->'user_ids' AS changed, e.event->'audience' AS audience
    FROM log.position(${realmId}) p, log.read_types(${realmId}, coalesce(
      (SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = 'periods'), 0),
      p.number, '{stream,subscription,muted_users}', ${maxExamined}) e`);
  return waiting.length === maxExamined || waiting.some((event) => concerns(event, userId));
}

function concerns({ name, property, changed, audience }: Waiting, userId: number): boolean {
  const reaches = audience === 'realm' || idsOf(audience.users).includes(userId);
  switch (name) {
    case 'subscription/add':
    case 'subscription/remove':
      return changed?.includes(userId) ?? false;
    case 'subscription/update':
      return reaches && property === 'is_muted';
    case 'stream/update':
      return reaches && isCopied(property);
    case 'stream/create':
    case 'muted_users':
      return reaches;
    default:
      return false;
  }
}
