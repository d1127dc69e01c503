import { ChatError } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

export interface DailyLimits {
  person: number;
  address: number;
  realm: number;
}

export interface Mailing {
  realmId: number;
  /**
   * Each kind has its own budgets: password requests of strangers use up no invitations, and many logins do not
   * suppress the notice of a changed address. `account`: an address to confirm; `link`: an address that joins by a
   * reusable link.
   */
  kind: 'invitation' | 'link' | 'account' | 'login' | 'address change' | 'deactivation';
  /** The requesting user; absent without authentication. */
  personId?: number;
  addresses: readonly string[];
}

const countRow = z.object({ kind: z.string(), sent: z.number() });

/**
 * Counts mails in the transaction that causes them, and throws above the daily limit. The counts are in Postgres: they
 * survive a loss of Redis, and a rolled-back change counts nothing.
 */
export async function countMails(executor: Executor, limits: DailyLimits, mailing: Mailing): Promise<void> {
  const { realmId, kind, personId, addresses } = mailing;
  if (addresses.length === 0) return;
  const counted: [string, string, number][] = [
    [`realm ${kind}`, '', addresses.length],
    ...(personId === undefined
      ? []
      : [[`person ${kind}`, String(personId), addresses.length] as [string, string, number]]),
    ...[...Map.groupBy(addresses, mailboxOf)].map(([box, all]): [string, string, number] => [
      `address ${kind}`,
      box,
      all.length,
    ]),
  ];
  const today = sql.fragment`(now() AT TIME ZONE 'UTC')::date`;
  await executor.run(sql.unsafe`DELETE FROM users.mail_count WHERE realm_id = ${realmId} AND day < ${today}`);
  const rows = await executor.any(sql.type(countRow)`
    INSERT INTO users.mail_count AS c (realm_id, day, kind, subject, sent)
    SELECT ${realmId}::int, ${today}, m.kind, m.subject, m.sent FROM ${sql.unnest(counted, ['text', 'text', 'int4'])} AS m (kind, subject, sent)
    ORDER BY m.kind, m.subject
    ON CONFLICT (realm_id, day, kind, subject) DO UPDATE SET sent = c.sent + excluded.sent RETURNING kind, sent`);
  for (const row of rows) {
    const what = row.kind.split(' ', 1)[0] as keyof DailyLimits;
    if (row.sent > limits[what]) throw new ChatError('RATE_LIMIT_HIT', tooMany[what], { 'retry-after': 86_400 });
  }
}

/**
 * Like `countMails`, outside a transaction and after the event; false if a limit is exceeded and the mail is not sent.
 */
export async function mayNotify(executor: Executor, limits: DailyLimits, mailing: Mailing): Promise<boolean> {
  try {
    await countMails(executor, limits, mailing);
    return true;
  } catch (error) {
    if (error instanceof ChatError && error.code === 'RATE_LIMIT_HIT') return false;
    throw error;
  }
}

const tooMany: Record<keyof DailyLimits, string> = {
  person: 'You have sent too many mails today. Try again tomorrow.',
  address: 'Too many mails were sent to this address today. Try again tomorrow.',
  realm: 'This organization has sent too many mails today. Try again tomorrow.',
};

/** `ann+shop@…` is delivered to the mailbox of `ann@…`. */
const mailboxOf = (address: string): string => address.toLowerCase().replace(/\+[^@]*(?=@)/, '');
