import { type IdSet, idsOf } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { SnapshotFor } from '../model/snapshot-for.ts';

const waitingRow = z.object({
  name: z.string(),
  changed: z.array(z.number()).nullable(),
  audience: z.custom<'realm' | { users: IdSet }>(),
});
type Waiting = z.infer<typeof waitingRow>;

/** If more events wait, the consumer is far behind, and one of them may concern the user. */
const maxWaiting = 1_000;

/**
 * Whether the log contains an event that changes which messages this user has received or sees as unread, and that the
 * consumer `periods` has not applied. No later event makes up for it: messages that the user has already received would be
 * missing in `unread_msgs` for the life of the queue.
 */
export async function isBehindFor(executor: Executor, { realmId, userId }: SnapshotFor): Promise<boolean> {
  const waiting = await executor.any(sql.type(waitingRow)`
    SELECT name, changed, audience FROM (
      SELECT concat_ws('/', e.event->>'type', e.event->>'op', e.event->'body'->>'property') AS name,
        e.event->'note'->'user_ids' AS changed, e.event->'audience' AS audience, row_number() OVER () AS place
      FROM log.position(${realmId}) p, log.read_types(${realmId}, coalesce(
        (SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = 'periods'), 0),
        p.number, '{stream,subscription,muted_users}', ${maxWaiting}) e) waiting
    WHERE place = ${maxWaiting} OR name = ANY(${sql.array(Object.keys(concerns), 'text')})`);
  return waiting.some((event) => concerns[event.name]?.(event, userId) ?? true);
}

const changes = ({ changed }: Waiting, userId: number): boolean => changed?.includes(userId) ?? false;
const reaches = ({ audience }: Waiting, userId: number): boolean =>
  audience === 'realm' || idsOf(audience.users).includes(userId);

/** By the name of the event and the changed property. */
const concerns: Record<string, (event: Waiting, userId: number) => boolean> = {
  'subscription/add': changes,
  'subscription/remove': changes,
  'subscription/update/is_muted': reaches,
  'stream/update/is_archived': reaches,
  muted_users: reaches,
};
