import { type IdSet, idsOf } from '@natter/contracts';
import { appliedNumber, type Executor, eventsAfter, sql } from '@natter/database';
import { z } from 'zod';

const waitingRow = z.object({
  name: z.string(),
  /** The user whom the event adds or changes. */
  person: z.number().nullable(),
  changed: z.array(z.number()).nullable(),
  audience: z.custom<'realm' | { users: IdSet }>(),
  /** Its place among the waiting events. */
  place: z.number(),
});
type WaitingEvent = z.infer<typeof waitingRow>;

/** If more events wait, the consumer is far behind, and one of them may concern the user. */
const maxWaiting = 1_000;

export interface Awaited {
  consumer: string;
  types: readonly string[];
  /** Whether an event concerns a user, by its name and, if it has one, the changed property: `stream/update/is_archived`. */
  concerns: Record<string, (event: WaitingEvent, userId: number) => boolean>;
}

export const reaches = ({ audience }: WaitingEvent, userId: number): boolean =>
  audience === 'realm' || idsOf(audience.users).includes(userId);

/** Whether the log contains an event that concerns the user, and that the consumer of this service has not applied. */
export async function isWaiting(
  executor: Executor,
  { realmId, userId }: { realmId: number; userId: number },
  { consumer, types, concerns }: Awaited,
): Promise<boolean> {
  const waiting = await executor.any(sql.type(waitingRow)`
    SELECT name, person, changed, audience, place FROM (
      SELECT concat_ws('/', e.event->>'type', e.event->>'op', e.event->'body'->>'property') AS name,
        (e.event->'body'->'person'->>'user_id')::int AS person, e.event->'note'->'user_ids' AS changed,
        e.event->'audience' AS audience, row_number() OVER () AS place
      FROM ${eventsAfter(realmId, appliedNumber('messaging', realmId, consumer), types, maxWaiting)} e) waiting
    WHERE place = ${maxWaiting} OR name = ANY(${sql.array(Object.keys(concerns), 'text')})`);
  return waiting.some((event) => event.place === maxWaiting || concerns[event.name]?.(event, userId) === true);
}
