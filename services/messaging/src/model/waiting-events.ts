import { type IdSet, idsOf } from '@natter/contracts';
import { appliedNumber, type Executor, eventsAfter, type Fragment, sql } from '@natter/database';
import { z } from 'zod';

const waitingRow = z.object({
  number: z.number(),
  /** Empty if consumers skip the event. */
  name: z.string(),
  /** The user whom the event adds or changes. */
  person: z.number().nullable(),
  /** The role that this user has after the event, if it sets one. */
  role: z.number().nullable(),
  /** The users and channels of a change of subscriptions. */
  users: z.array(z.number()).nullable(),
  channels: z.array(z.number()).nullable(),
  audience: z.custom<'realm' | { users: IdSet }>(),
  /** The position of the event among the events of one read, from 1. */
  place: z.number(),
  /** How many events of one read, up to this one, consumers do not skip. */
  counted: z.number(),
});
export type WaitingEvent = z.infer<typeof waitingRow>;

const readAtOnce = 1_000;
/** If more events wait, the consumer is far behind, and one of them may matter. */
const maxWaiting = 10_000;
/** The same with the events that consumers skip: a unit of work emits at most 25,000. */
const maxRead = 50_000;

export interface Awaited {
  consumer: string;
  types: readonly string[];
  /** Whether an event matters, by its name and, if it has one, the changed property: `stream/update/is_archived`. */
  matters: Record<string, (event: WaitingEvent) => boolean>;
  /** The number of the last event in the projection as the decision read it; that of the current projection if absent. */
  applied?: number | undefined;
  /** The number of the last event that may matter; that of the log if absent. */
  through?: number | undefined;
}

export const reaches = ({ audience }: WaitingEvent, userId: number): boolean =>
  audience === 'realm' || idsOf(audience.users).includes(userId);

/** Whether the log contains an event that matters, and that the consumer of this service has not applied. */
export async function isWaiting(executor: Executor, realmId: number, awaited: Awaited): Promise<boolean> {
  const waiting = await waitingEvents(executor, realmId, awaited, 1);
  return waiting === undefined || waiting.length > 0;
}

/**
 * The events that matter and that the consumer of this service has not applied, in their order: all of them, or at least `most`.
 * `undefined` if too many events wait. Events that consumers skip do not count.
 */
export async function waitingEvents(
  executor: Executor,
  realmId: number,
  { consumer, types, matters, applied, through }: Awaited,
  most = Number.POSITIVE_INFINITY,
): Promise<WaitingEvent[] | undefined> {
  const found: WaitingEvent[] = [];
  let after: number | Fragment = applied ?? appliedNumber('messaging', realmId, consumer);
  for (let read = 0, count = 0; read < maxRead && count < maxWaiting; read += readAtOnce) {
    const waiting: readonly WaitingEvent[] = await executor.any(sql.type(waitingRow)`
      SELECT number, name, person, role, users, channels, audience, place, counted FROM (
        SELECT e.number, CASE WHEN e.event->>'isForClientsOnly' IS NULL
            THEN concat_ws('/', e.event->>'type', e.event->>'op', e.event->'body'->>'property') ELSE '' END AS name,
          (e.event->'body'->'person'->>'user_id')::int AS person, (e.event->'body'->'person'->>'role')::int AS role, e.event->'note'->'user_ids' AS users,
          e.event->'note'->'channel_ids' AS channels, e.event->'audience' AS audience, row_number() OVER () AS place,
          count(*) FILTER (WHERE e.event->>'isForClientsOnly' IS NULL) OVER (ROWS UNBOUNDED PRECEDING) AS counted
        FROM ${eventsAfter(realmId, after, types, { limit: readAtOnce, through })} e) waiting
      WHERE place = ${readAtOnce} OR name = ANY(${sql.array(Object.keys(matters), 'text')})`);
    found.push(...waiting.filter((event) => matters[event.name]?.(event)));
    const last = waiting.find(({ place }) => place === readAtOnce);
    if (!last || found.length >= most) return found;
    after = last.number;
    count += last.counted;
  }
  return undefined;
}
