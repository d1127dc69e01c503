import { type Database, deleteInBatches, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { ownerOf } from '../model/owner-of.ts';

const deliveryRow = z.object({
  realm_id: z.number(),
  bot_id: z.number(),
  message_id: z.number(),
  failures: z.number(),
  /** How often a process began to post it, this attempt included. */
  attempts: z.number(),
  /** Whether it is too old to wait until the bot may read it. */
  is_late: z.boolean(),
});
export type DeliveryRow = z.infer<typeof deliveryRow>;

const dueRow = z.object({ realm_id: z.number(), owner_id: z.number(), bot_id: z.number(), count: z.number() });
export type DueBot = z.infer<typeof dueRow>;

/** Longer than a delivery may take. After the lease, another process takes the delivery of a process that died. */
export const leaseSeconds = 30;
/** The lease doubles this often, so that a delivery that ends with unknown errors is repeated for hours, but not often. */
const doublings = 7;
/** Attempts of one message, however they end. */
export const maxAttempts = 12;
/** The projections of this service usually contain within this time what the bot may read. */
const readableWithinMinutes = 5;
/** Messages of a bot that one process posts at a time. */
export const atOncePerBot = 4;
/** Seconds before the first repetition. Each further one waits four times as long. */
const firstDelaySeconds = 1;
const longestDelaySeconds = 60;
/** Seconds before the next attempt after an outage of other services. */
const outageSeconds = 5;
/** Seconds before another delivery in a deactivated realm. */
export const closedSeconds = 60;
const maxFailures = 4;
const oldestHours = 24;
/** The highest id that the database can store. */
const maxId = 2_147_483_647;

/** SQL condition for this row; false if another process has taken the delivery since, which increments `attempts`. */
const isRow = ({ realm_id, bot_id, message_id, attempts }: DeliveryRow) =>
  sql.fragment`realm_id = ${realm_id} AND bot_id = ${bot_id} AND message_id = ${message_id} AND attempts = ${attempts}`;

/** SQL condition for due rows. `statement_timestamp()` is constant in a statement, so an index can be used. */
const isDue = sql.fragment`due_at <= statement_timestamp()`;

/**
 * The bots with messages that are due, with their number, up to as many as are posted at a time. Bots are found by
 * skipping through the key, so many messages of one bot, and many bots of a realm that is left out, cost no more than a few.
 */
export function dueBots(database: Database, except: readonly number[]): Promise<DueBot[]> {
  const isLeftOut = sql.fragment`b.realm_id = ANY(${sql.array(except, 'int4')})`;
  const bot = { realmId: sql.fragment`b.realm_id`, botId: sql.fragment`b.bot_id` };
  return database.any(sql.type(dueRow)`
    WITH RECURSIVE bot (realm_id, bot_id) AS (
      (SELECT realm_id, bot_id FROM messaging.webhook_delivery
       WHERE EXISTS (SELECT FROM messaging.webhook_delivery WHERE ${isDue}) ORDER BY realm_id, bot_id LIMIT 1)
      UNION ALL
      SELECT n.realm_id, n.bot_id FROM bot b CROSS JOIN LATERAL (
        SELECT d.realm_id, d.bot_id FROM messaging.webhook_delivery d
        WHERE (d.realm_id, d.bot_id) > (b.realm_id, CASE WHEN ${isLeftOut} THEN ${maxId} ELSE b.bot_id END)
        ORDER BY d.realm_id, d.bot_id LIMIT 1) n
    )
    SELECT b.realm_id, ${ownerOf(bot)} AS owner_id, b.bot_id, due.count FROM bot b CROSS JOIN LATERAL (
      SELECT count(*)::int FROM (
        SELECT FROM messaging.webhook_delivery d
        WHERE d.realm_id = b.realm_id AND d.bot_id = b.bot_id AND ${isDue} LIMIT ${atOncePerBot}) few) due
    WHERE NOT ${isLeftOut} AND due.count > 0`);
}

/** Takes the message that has been due longest for as long as the lease. */
export const claim = (database: Database, { realm_id, bot_id }: DueBot): Promise<DeliveryRow | undefined> =>
  database.maybeOne(sql.type(deliveryRow)`
    UPDATE messaging.webhook_delivery SET attempts = attempts + 1,
      due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds} * 2 ^ least(attempts, ${doublings}))
    WHERE realm_id = ${realm_id} AND bot_id = ${bot_id} AND message_id = (
      SELECT message_id FROM messaging.webhook_delivery
      WHERE realm_id = ${realm_id} AND bot_id = ${bot_id} AND ${isDue}
      ORDER BY due_at, message_id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING realm_id, bot_id, message_id, failures, attempts,
      created_at < clock_timestamp() - make_interval(mins => ${readableWithinMinutes}) AS is_late`);

/** Schedules another attempt after a failure of the bot, unless this one was the last. */
export async function postpone(database: Database, row: DeliveryRow): Promise<boolean> {
  const failures = row.failures + 1;
  if (failures >= maxFailures) return false;
  await wait(database, row, { failures, seconds: firstDelaySeconds * 4 ** row.failures });
  return true;
}

/**
 * Schedules another attempt after an outage in which nothing was posted, or while projections lag. This attempt does not count.
 */
export const repeatSoon = (database: Database, row: DeliveryRow): Promise<number> =>
  wait(database, row, { failures: row.failures, seconds: outageSeconds, attempts: row.attempts - 1 });

/** Schedules another attempt of a message in a deactivated realm. This attempt does not count. */
export const postponeClosed = (database: Database, row: DeliveryRow): Promise<number> =>
  wait(database, row, { failures: row.failures, seconds: closedSeconds, attempts: row.attempts - 1 });

/** Schedules another attempt to read the message, unless it is too old. */
export async function postponeUnreadable(database: Database, row: DeliveryRow): Promise<boolean> {
  if (row.is_late) return false;
  const seconds = Math.min(firstDelaySeconds * 4 ** (row.attempts - 1), longestDelaySeconds);
  await wait(database, row, { failures: row.failures, seconds });
  return true;
}

interface Wait {
  failures: number;
  seconds: number;
  attempts?: number;
}

const wait = (database: Database, row: DeliveryRow, { failures, seconds, attempts = row.attempts }: Wait) =>
  database.run(sql.unsafe`
    UPDATE messaging.webhook_delivery SET failures = ${failures}, attempts = ${attempts},
      due_at = clock_timestamp() + make_interval(secs => ${seconds * (0.75 + Math.random() / 2)})
    WHERE ${isRow(row)}`);

export const drop = (database: Database, row: DeliveryRow): Promise<number> =>
  database.run(sql.unsafe`DELETE FROM messaging.webhook_delivery WHERE ${isRow(row)}`);

/** Ends a delivery in the transaction that stores its outcome. False if another process has taken or ended it. */
export const end = async (work: Work, row: DeliveryRow): Promise<boolean> =>
  (await work.run(sql.unsafe`DELETE FROM messaging.webhook_delivery WHERE ${isRow(row)}`)) > 0;

/**
 * Makes messages due that wait longer than any attempt lasts: their time was stored before the clock of the database was
 * set back.
 */
export const endOverlongWaits = (database: Database): Promise<number> =>
  database.run(sql.unsafe`
    UPDATE messaging.webhook_delivery SET due_at = statement_timestamp()
    WHERE due_at > statement_timestamp() + make_interval(secs => ${leaseSeconds + 2 * longestDelaySeconds})
      AND due_at > statement_timestamp()
        + make_interval(secs => ${leaseSeconds} * 2 ^ least(attempts, ${doublings}) + ${2 * longestDelaySeconds})`);

/** Deletes messages that were not posted within a day. */
export const forgetOld = (database: Database, isStopped: () => boolean): Promise<void> =>
  deleteInBatches(
    database,
    'messaging.webhook_delivery',
    sql.fragment`created_at < clock_timestamp() - make_interval(hours => ${oldestHours})`,
    isStopped,
  );
