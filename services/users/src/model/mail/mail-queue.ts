import { type Database, type Executor, sql } from '@natter/database';
import { z } from 'zod';
import type { KeySeal } from '../credentials/key-seal.ts';
import { type AddressedMail, addressedMail, type Mail } from './mail.ts';
import type { CountedAddress } from './mail-limits.ts';
import { attemptMs } from './mail-transport.ts';

/** How long a mail waits for the mail server. Links in mails expire at the same time, or earlier. */
const maxWaitSeconds = 86_400;
/** A process that has not finished a mail after this time counts as lost, and another one sends the mail. */
const leaseSeconds = Math.ceil((attemptMs + 60_000) / 1_000);
const [firstPauseSeconds, longestPauseSeconds] = [1, 3_600];
/**
 * A mail is due at its time, or if that time is later than any pause allows: the clock of the database was set back. Pauses
 * are up to a quarter longer.
 */
const isDue = sql.fragment`(due_at <= now() OR due_at > now() + make_interval(secs => ${longestPauseSeconds * 1.25}))`;
/**
 * Maximum number of attempts: about as many as fit into the lifetime of a mail. Each may deliver the mail, because the
 * answer of the mail server may be lost.
 */
export const maxAttempts = 40;
/** Realms take turns among this many mails that are due. */
const maxSorted = 10_000;

const queuedRow = z.object({
  id: z.string(),
  sealed: z.string(),
  attempts: z.number(),
  waited: z.number(),
  is_expired: z.boolean(),
});

export interface QueuedMail {
  id: string;
  /** Undefined if this process cannot read it, for example because it was sealed with another secret. */
  mail: AddressedMail | undefined;
  /** Number of attempts, including the one that begins. */
  attempts: number;
  /** Negative if the clock of the database was set back since. */
  waitedSeconds: number;
  isExpired: boolean;
}

export interface Outgoing {
  to: CountedAddress;
  mail: Mail;
  /** When the link in the mail ends, if that is earlier than in a day. */
  linkSeconds?: number | undefined;
}

/**
 * Mails in Postgres: added in the transaction that causes them, and deleted when they are sent, refused or expired. A process
 * takes a mail for itself until it has finished it. At least once: if the process ends between the answer of the mail
 * server and the deletion, the mail is sent again.
 */
export interface MailQueue {
  add(executor: Executor, realmId: number, mails: readonly Outgoing[]): Promise<void>;
  /** Takes mails that are due, of each realm in turn; no other process takes them meanwhile. */
  take(most: number): Promise<QueuedMail[]>;
  remove(id: string): Promise<void>;
  /** Puts a mail back for a further attempt. */
  putBack(mail: QueuedMail): Promise<void>;
}

export function createMailQueue(seal: KeySeal, database: () => Database): MailQueue {
  return {
    async add(executor, realmId, mails) {
      const rows = mails.map(({ to, mail, linkSeconds = maxWaitSeconds }) => [
        seal.seal(JSON.stringify({ to: String(to), subject: mail.subject, text: mail.text })),
        Math.min(linkSeconds, maxWaitSeconds),
      ]);
      await executor.run(sql.unsafe`
        INSERT INTO users.mail (realm_id, sealed, expires_at)
        SELECT ${realmId}::int, m.sealed, now() + make_interval(secs => m.seconds)
        FROM ${sql.unnest(rows, ['text', 'float8'])} AS m (sealed, seconds)`);
    },

    async take(most) {
      const rows = await database().any(sql.type(queuedRow)`
        UPDATE users.mail m SET attempts = attempts + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
        FROM (SELECT id FROM users.mail WHERE ${isDue} AND id = ANY(ARRAY(
          SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY realm_id ORDER BY due_at) AS turn
            FROM (SELECT id, realm_id, due_at FROM users.mail WHERE ${isDue} ORDER BY due_at LIMIT ${maxSorted}) oldest) ranked
          ORDER BY turn, random() LIMIT ${most * 4})) LIMIT ${most} FOR UPDATE SKIP LOCKED) due
        WHERE m.id = due.id
        RETURNING m.id::text AS id, sealed, attempts, extract(epoch FROM now() - created_at)::float8 AS waited, expires_at <= now() AS is_expired`);
      return rows.map(({ id, sealed, attempts, waited, is_expired }) => {
        return { id, mail: mailOf(seal.open(sealed)), attempts, waitedSeconds: waited, isExpired: is_expired };
      });
    },

    async remove(id) {
      await database().run(sql.unsafe`DELETE FROM users.mail WHERE id = ${id}::bigint`);
    },

    async putBack({ id, attempts }) {
      const seconds = pauseAfter(attempts) * (0.75 + Math.random() / 2);
      await database().run(sql.unsafe`
        UPDATE users.mail SET due_at = now() + make_interval(secs => ${seconds}) WHERE id = ${id}::bigint`);
    },
  };
}

/** `opened` is empty if the mail was sealed with another secret. Another release may have queued it in another form. */
function mailOf(opened: string): AddressedMail | undefined {
  try {
    return addressedMail.parse(JSON.parse(opened));
  } catch {
    return undefined;
  }
}

/** Seconds between two attempts, after this many: 1, 2, 4, …, up to an hour. */
export const pauseAfter = (attempts: number): number =>
  Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** Math.min(attempts - 1, 30));
