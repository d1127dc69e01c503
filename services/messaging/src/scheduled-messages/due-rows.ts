import { type Database, sql } from '@natter/database';
import { z } from 'zod';
import type { SystemBot } from '../model/notice.ts';
import { ownerOf } from '../model/owner-of.ts';
import { scheduledColumns, scheduledRow } from '../model/scheduled-row.ts';

/** `late`: delay in seconds when the row was read. `is_welcome`: text of administrators for a new user. */
const dueRow = scheduledRow.extend({ late: z.number(), is_welcome: z.boolean() });
export type DueRow = z.infer<typeof dueRow>;

/** Maximum number of messages in one transaction. */
export const batchSize = 250;
/** The oldest due messages, among which people take turns: more than twice as many as one person may have. */
const maxCompared = 5_000;

/**
 * The due messages of a realm for one batch: the first one of each person and their bots, then the second ones. So a person with
 * many messages does not delay those of others. A bot of the server counts as a person. By the database's clock, independent of
 * this process's clock.
 */
export function readDue(database: Database, realmId: number, except: number[]): Promise<DueRow[]> {
  const person = ownerOf({ realmId: sql.fragment`${realmId}::int`, botId: sql.fragment`due.user_id` });
  return database.any(sql.type(dueRow)`
    WITH due AS MATERIALIZED (
        SELECT id, user_id, due_at FROM messaging.scheduled_message
        WHERE state = 'waiting' AND realm_id = ${realmId} AND due_at <= clock_timestamp() AND id <> ALL(${sql.array(except, 'int4')})
        ORDER BY due_at, id LIMIT ${maxCompared}),
      batch AS (
        SELECT due.id AS due_id, row_number() OVER (PARTITION BY ${person} ORDER BY due.due_at, due.id) AS turn
        FROM due ORDER BY turn, due.due_at, due.id LIMIT ${batchSize})
    SELECT ${scheduledColumns}, extract(epoch FROM clock_timestamp() - due_at)::float8 AS late,
      EXISTS (SELECT FROM messaging.system_bot b WHERE b.realm_id = ${realmId} AND b.user_id = sender_id AND b.name = ${'Welcome Bot' satisfies SystemBot}) AS is_welcome
    FROM batch JOIN messaging.scheduled_message ON id = due_id ORDER BY turn, due_at, id`);
}
