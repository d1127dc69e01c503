import { type Database, sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { dueNow } from '../model/scheduler-hint.ts';

const longestWaitMs = 500;

/**
 * Brings the service's projections up to date. For a reader, also waits until the resulting bot messages are sent that
 * the reader may find, so that the next request finds them. Later ones are not waited for: changes may never pause.
 */
export function catchUpWithNotices(owner: Owner, hint: (dueSeconds: number) => void): Owner['catchUp'] {
  return async (realmId, expected, reader) => {
    const caughtUp = await owner.catchUp(realmId, expected);
    if (reader === undefined) return caughtUp;
    const end = performance.now() + longestWaitMs;
    const last = await lastWaiting(owner.database, realmId, reader);
    while (last !== null && (await isWaiting(owner.database, realmId, last)) && performance.now() < end) {
      hint(dueNow);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return caughtUp;
  };
}

/** SQL condition for notices to wait for. Older ones are not sent soon: they wait for another service, for example. */
const waiting = (realmId: number) => sql.fragment`
  state = 'waiting' AND kind = 'notice' AND realm_id = ${realmId} AND due_at > clock_timestamp() - interval '2 seconds'`;

/** The id of the newest waiting notice in a channel or to the reader. */
async function lastWaiting(database: Database, realmId: number, reader: number | 'all'): Promise<number | null> {
  const isForReader =
    reader === 'all' ? sql.fragment`true` : sql.fragment`(channel_id IS NOT NULL OR ${reader} = ANY(recipient_ids))`;
  const { last } = await database.one(sql.type(z.object({ last: z.number().nullable() }))`
    SELECT max(id) AS last FROM messaging.scheduled_message WHERE ${waiting(realmId)} AND ${isForReader}`);
  return last;
}

/** Notices are sent in order. */
async function isWaiting(database: Database, realmId: number, id: number): Promise<boolean> {
  const { found } = await database.one(sql.type(z.object({ found: z.boolean() }))`
    SELECT EXISTS (SELECT FROM messaging.scheduled_message WHERE ${waiting(realmId)} AND id = ${id}) AS found`);
  return found;
}
