import { type Database, inBatches, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { maxWaitingPerBot } from '../model/sending/triggered-webhooks.ts';

const deliveryRow = z.object({
  realm_id: z.number(),
  bot_id: z.number(),
  message_id: z.number(),
  failures: z.number(),
  /** Whether as many messages wait for the bot as may. */
  is_full: z.boolean(),
});
export type DeliveryRow = z.infer<typeof deliveryRow>;

const dueRow = z.object({ realm_id: z.number(), bot_id: z.number(), count: z.number() });
export type DueBot = z.infer<typeof dueRow>;

/** Longer than a delivery takes. After it another process continues the work of one that died. */
const leaseSeconds = 30;
/** Seconds before the first repetition. Each further one waits four times as long. */
const firstDelaySeconds = 1;
const maxFailures = 4;
const oldestHours = 24;
const deletedAtOnce = 5_000;

const isRow = ({ realm_id, bot_id, message_id }: DeliveryRow) =>
  sql.fragment`realm_id = ${realm_id} AND bot_id = ${bot_id} AND message_id = ${message_id}`;

/** The bots with messages that are due, with their number. */
export const dueBots = (database: Database): Promise<DueBot[]> =>
  database.any(sql.type(dueRow)`
    SELECT realm_id, bot_id, count(*)::int FROM messaging.webhook_delivery WHERE due_at <= clock_timestamp() GROUP BY 1, 2`);

/** Takes the message that has been due longest for as long as the lease. */
export const claim = (database: Database, { realm_id, bot_id }: DueBot): Promise<DeliveryRow | undefined> =>
  database.maybeOne(sql.type(deliveryRow)`
    UPDATE messaging.webhook_delivery SET due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    WHERE realm_id = ${realm_id} AND bot_id = ${bot_id} AND message_id = (
      SELECT message_id FROM messaging.webhook_delivery
      WHERE realm_id = ${realm_id} AND bot_id = ${bot_id} AND due_at <= clock_timestamp()
      ORDER BY due_at, message_id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING realm_id, bot_id, message_id, failures, (SELECT count(*) FROM (
      SELECT FROM messaging.webhook_delivery WHERE realm_id = ${realm_id} AND bot_id = ${bot_id} LIMIT ${maxWaitingPerBot}) w) >= ${maxWaitingPerBot} AS is_full`);

/** Schedules another attempt, unless this one was the last. */
export async function postpone(database: Database, row: DeliveryRow): Promise<boolean> {
  const failures = row.failures + 1;
  if (failures >= maxFailures) return false;
  const seconds = firstDelaySeconds * 4 ** row.failures * (0.75 + Math.random() / 2);
  await database.run(sql.unsafe`
    UPDATE messaging.webhook_delivery SET failures = ${failures}, due_at = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE ${isRow(row)} AND failures = ${row.failures}`);
  return true;
}

export const drop = (database: Database, row: DeliveryRow): Promise<number> =>
  database.run(sql.unsafe`DELETE FROM messaging.webhook_delivery WHERE ${isRow(row)}`);

/** Ends a delivery in the transaction that stores its outcome. False if another process has ended it. */
export const end = async (work: Work, row: DeliveryRow): Promise<boolean> =>
  (await work.run(sql.unsafe`DELETE FROM messaging.webhook_delivery WHERE ${isRow(row)}`)) > 0;

/** Deletes messages that were not posted within a day. */
export const forgetOld = (database: Database): Promise<void> =>
  inBatches(deletedAtOnce, () =>
    database.run(sql.unsafe`
      DELETE FROM messaging.webhook_delivery WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM messaging.webhook_delivery WHERE created_at < clock_timestamp() - make_interval(hours => ${oldestHours})
        LIMIT ${deletedAtOnce} FOR UPDATE SKIP LOCKED))`),
  );
