import type { RequestMeta } from '@natter/contracts';
import { sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { z } from 'zod';
import { lockAccount } from '../accounts/find-account.ts';
import type { Attempts } from '../authentication/attempts.ts';
import { hashOf } from '../authentication/guesses.ts';
import { newConfirmation } from './confirmations.ts';

/** Of one network for one address. */
const perPair = [
  { seconds: 3_600, most: 2 },
  { seconds: 86_400, most: 5 },
];
/** Of one network for all addresses. */
const perNetwork = { seconds: 3_600, most: 30 };

const freeMails = 3;
const firstGapSeconds = 900;
const longestGapSeconds = 4 * 3_600;

/** Seconds between the last mail to an address and the next, after so many in a day: about ten mails a day at most. */
export const gapAfter = (mailed: number): number =>
  mailed < freeMails ? 0 : Math.min(longestGapSeconds, firstGapSeconds * 2 ** Math.min(mailed - freeMails, 30));

/** Refuses a network that asks too often. Requests of other networks for the same address are not affected. */
export async function limitResets(
  attempts: Attempts,
  { realmId, network = 'unknown' }: RequestMeta,
  email: string,
): Promise<void> {
  for (const window of perPair)
    await attempts.count(realmId, `reset:${hashOf(email)}:${network}:${window.seconds}`, window);
  await attempts.count(realmId, `reset-by:${network}`, perNetwork);
}

/**
 * Makes a link to set a password, or none while the last one is too recent for the number of them. Whoever asks, a link goes to the
 * owner of the address and stays valid for a day, so strangers who ask often can't keep the owner from getting one.
 */
export function makeResetLink(
  { unitOfWork }: Pick<Owner, 'unitOfWork'>,
  realmId: number,
  userId: number,
): Promise<string | undefined> {
  return unitOfWork({ realmId, schema: 'users', claim: undefined }, async (work) => {
    const account = await lockAccount(work, userId);
    if (!account?.is_active) return undefined;
    // A link lasts a day, so the links of the account are the mails of a day.
    const { mailed, seconds } = await work.one(sql.type(z.object({ mailed: z.number(), seconds: z.number() }))`
      SELECT count(*)::int AS mailed, coalesce(extract(epoch FROM now() - max(expires_at) + interval '24 hours'), 0)::float8 AS seconds
      FROM users.confirmation WHERE user_id = ${userId} AND kind = 'password' AND expires_at > now()`);
    if (seconds < gapAfter(mailed)) return undefined;
    return newConfirmation(work, userId, 'password', account.email);
  });
}
