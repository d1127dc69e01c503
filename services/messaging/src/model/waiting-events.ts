import type { IdSet } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

const waitingRow = z.object({
  name: z.string(),
  property: z.string().nullable(),
  /** The user whom the event adds or changes. */
  person: z.number().nullable(),
  changed: z.array(z.number()).nullable(),
  audience: z.custom<'realm' | { users: IdSet }>(),
});
export type WaitingEvent = z.infer<typeof waitingRow>;

/** More waiting events are not examined: one of them probably concerns the user. */
const maxExamined = 100;

/** Whether the log contains an event of these types for which `concerns` holds, and that the consumer has not applied. */
export async function isWaiting(
  executor: Executor,
  realmId: number,
  { consumer, types }: { consumer: string; types: readonly string[] },
  concerns: (event: WaitingEvent) => boolean,
): Promise<boolean> {
  const waiting = await executor.any(sql.type(waitingRow)`
    SELECT concat_ws('/', e.event->>'type', e.event->>'op') AS name, e.event->'body'->>'property' AS property,
      (e.event->'body'->'person'->>'user_id')::int AS person, e.event->'note'->'user_ids' AS changed, e.event->'audience' AS audience
    FROM log.position(${realmId}) p, log.read_types(${realmId}, coalesce(
      (SELECT position FROM messaging.consumer WHERE realm_id = ${realmId} AND name = ${consumer}), 0),
      p.number, ${sql.array([...types], 'text')}, ${maxExamined}) e`);
  return waiting.length === maxExamined || waiting.some(concerns);
}
