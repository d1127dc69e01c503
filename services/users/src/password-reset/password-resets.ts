import type { RequestMeta } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { newConfirmation } from '../model/confirmations.ts';
import type { Attempts } from '../model/credentials/attempts.ts';
import { hashOf, lowerCase } from '../model/credentials/guesses.ts';
import { lockAccount } from '../model/find-account.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { forgottenPasswordMail } from '../model/mail/mails.ts';
import { readRealm } from '../model/read-realm.ts';
import { readSettings } from '../model/stored-settings.ts';

/** Limits for each pair of a network and an address. */
const perPair = [
  { seconds: 3_600, most: 2 },
  { seconds: 86_400, most: 5 },
];
/** Limits for each network, for all addresses together. */
const perNetwork = { seconds: 3_600, most: 30 };

const freeMails = 3;
const firstGapSeconds = 900;
const longestGapSeconds = 4 * 3_600;

/**
 * Minimum seconds between the last mail to an address and the next, after this many in a day: about ten mails a day at
 * most.
 */
export const gapAfter = (mailed: number): number =>
  mailed < freeMails ? 0 : Math.min(longestGapSeconds, firstGapSeconds * 2 ** Math.min(mailed - freeMails, 30));

/** Refuses a network that requests too many. Requests of other networks for the same address are not affected. */
export async function limitResets(
  attempts: Pick<Attempts, 'count'>,
  { realmId, network = 'unknown' }: RequestMeta,
  email: string,
): Promise<void> {
  // First, so that a network that invents addresses adds no more counts to Redis once it is refused.
  await attempts.count(realmId, `reset-by:${network}`, perNetwork);
  for (const window of perPair)
    await attempts.count(realmId, `reset:${hashOf(email)}:${network}:${window.seconds}`, window);
}

const idRow = z.object({ id: z.number() });

/**
 * Mails a link to set a password to who has an account with this address, or none if the last one is too recent. Throws
 * MailLimitHit above the daily limits, which other mails do not share. The link always goes to the owner of the
 * address and stays valid for a day, so frequent requests of strangers cannot keep the owner from getting one.
 */
export async function mailResetLink(
  work: Work,
  mailer: Pick<Mailer, 'count' | 'send'>,
  { email, network }: { email: string; network: string },
): Promise<void> {
  const { realmId } = work;
  const found = await work.maybeOne(sql.type(idRow)`
    SELECT a.id FROM users.account a JOIN users.realm r ON r.id = a.realm_id
    WHERE a.realm_id = ${realmId} AND lower(a.email) = ${lowerCase(email)} AND a.is_active AND NOT a.is_bot AND NOT r.is_deactivated`);
  const account = found && (await lockAccount(work, found.id));
  if (!account?.is_active) return;
  const userId = account.id;
  // A link is valid for a day, so the account's links correspond to the mails of a day. Those that are valid for longer
  // were made before the clock of the database was set back.
  const { mailed, seconds } = await work.one(sql.type(z.object({ mailed: z.number(), seconds: z.number() }))`
    SELECT count(*)::int AS mailed, coalesce(extract(epoch FROM clock_timestamp() - max(expires_at) + interval '24 hours'), 0)::float8 AS seconds
    FROM users.confirmation WHERE user_id = ${userId} AND kind = 'password'
      AND expires_at > now() AND expires_at <= clock_timestamp() + interval '24 hours'`);
  if (seconds < gapAfter(mailed)) return;
  const mailing = { realmId, kind: 'password', by: { network }, addresses: [account.email] } as const;
  const { url, settings } = await readRealm(work, realmId);
  const { default_language: language } = await readSettings(work, userId);
  for (const to of await mailer.count(work, mailing)) {
    const key = await newConfirmation(work, userId, 'password', account.email);
    const link = `${url}/accounts/password/reset/${key}`;
    await mailer.send(work, [{ to, mail: forgottenPasswordMail(language, { realm: settings.name, link }) }]);
  }
}
