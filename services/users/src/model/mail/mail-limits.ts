import { ChatError } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { wideNetwork } from '@natter/service-kit';
import { z } from 'zod';

export interface DailyLimits {
  person: number;
  address: number;
  realm: number;
}

/** `network`: a tenth of the realm's mails, so that one network cannot use up those that are sent without an account. */
const limitsOf = (limits: DailyLimits): Record<What, number> => ({ ...limits, network: Math.ceil(limits.realm / 10) });
type What = keyof DailyLimits | 'network';

/** An address to which one mail may be sent, because it was counted. Only `countMails` makes one. */
class CountedAddress {
  readonly #address: string;
  constructor(address: string) {
    this.#address = address;
  }
  toString(): string {
    return this.#address;
  }
}

export type { CountedAddress };

export interface Mailing {
  realmId: number;
  /**
   * Each kind has its own budgets: password requests of strangers use up no invitations, and many logins do not
   * suppress the notice of a changed address. `account`: an address to confirm; `link`: an address that joins by a
   * reusable link; `password`: a link to set one.
   */
  kind: 'invitation' | 'link' | 'account' | 'login' | 'address change' | 'deactivation' | 'password';
  /** The user who causes the mail, or the network without authentication. */
  by: { personId: number } | { network: string };
  addresses: readonly string[];
}

const countRow = z.object({ kind: z.string(), sent: z.number() });

/** A limit of mails. Clients see RATE_LIMIT_HIT. */
export class MailLimitHit extends ChatError {
  readonly what: What;
  constructor(what: What) {
    super('RATE_LIMIT_HIT', tooMany[what], { 'retry-after': 86_400 });
    this.what = what;
  }
}

/**
 * Counts mails in the transaction that causes them, and throws MailLimitHit above a daily limit. The counts are in Postgres: they
 * survive a loss of Redis, and a rolled-back change counts nothing.
 */
export async function countMails(executor: Executor, limits: DailyLimits, mailing: Mailing): Promise<CountedAddress[]> {
  const { addresses } = mailing;
  if (addresses.length === 0) return [];
  const what = await addToCounts(executor, limits, mailing, 1);
  if (what) throw new MailLimitHit(what);
  return addresses.map((address) => new CountedAddress(address));
}

/**
 * Like `countMails`, for a mail whose cause is not refused: undefined if a limit is exceeded and the mail is not sent. Such a
 * mail is not counted: otherwise one person could use up the limit of the realm with mails above their own limit.
 */
export async function mayNotify(
  executor: Executor,
  limits: DailyLimits,
  mailing: Mailing & { addresses: readonly [string] },
): Promise<CountedAddress | undefined> {
  const what = await addToCounts(executor, limits, mailing, 1);
  if (!what) return new CountedAddress(mailing.addresses[0]);
  await addToCounts(executor, limits, mailing, -1);
  return undefined;
}

/** Adds these mails to the counts of today `times` times. Returns a limit that is exceeded then, if there is one. */
async function addToCounts(
  executor: Executor,
  limits: DailyLimits,
  { realmId, kind, by, addresses }: Mailing,
  times: 1 | -1,
): Promise<What | undefined> {
  const counted: [string, string, number][] = [
    [`realm ${kind}`, '', addresses.length],
    'network' in by
      ? [`network ${kind}`, wideNetwork(by.network), addresses.length]
      : [`person ${kind}`, String(by.personId), addresses.length],
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
    SELECT ${realmId}::int, ${today}, m.kind, m.subject, m.sent * ${times}::int FROM ${sql.unnest(counted, ['text', 'text', 'int4'])} AS m (kind, subject, sent)
    ORDER BY m.kind, m.subject
    ON CONFLICT (realm_id, day, kind, subject) DO UPDATE SET sent = c.sent + excluded.sent RETURNING kind, sent`);
  const most = limitsOf(limits);
  return mostGeneralFirst.find((what) => rows.some((row) => row.kind === `${what} ${kind}` && row.sent > most[what]));
}

/** A refusal names the limit that reveals least about the address. */
const mostGeneralFirst = ['realm', 'network', 'person', 'address'] as const;

const tooMany: Record<What, string> = {
  person: 'You have sent too many mails today. Try again tomorrow.',
  address: 'Too many mails were sent to this address today. Try again tomorrow.',
  network: 'Too many mails were requested from your network today. Try again tomorrow.',
  realm: 'This organization has sent too many mails today. Try again tomorrow.',
};

/** `ann+shop@…` is delivered to the mailbox of `ann@…`. */
const mailboxOf = (address: string): string => address.toLowerCase().replace(/\+[^@]*(?=@)/, '');
