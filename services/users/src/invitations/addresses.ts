import { badRequest, perRequest } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { z } from 'zod';
import { isEmail, maxEmailLength } from '../model/change-email.ts';
import { readDomainRule } from '../model/email-domains.ts';
import { lockRealm, readRealm } from '../model/read-realm.ts';
import { invitationFailed, type Refused } from './invitation-failed.ts';

/** A name beside an address may have as many characters. Longer texts are no addresses; to search them takes time. */
const maxEntryLength = 2 * maxEmailLength;

/**
 * Addresses to invite, and addresses that already have an account. If one address is invalid or may not join, no
 * invitation is sent. The realm is locked, so that no account with one of them is created meanwhile.
 */
export async function checkedAddresses(work: Work, given: string): Promise<{ wanted: string[]; refused: Refused[] }> {
  const emails = [...new Set(given.split(/[,\n]/).map(addressOf).filter(Boolean))];
  if (emails.length === 0) throw badRequest('You must specify at least one email address.');
  if (emails.length > perRequest.invitations)
    throw badRequest(`You can invite at most ${perRequest.invitations} people at once.`);
  // The join checks the domain again, so the lock is not needed for it.
  const problemOf = await readDomainRule(work, await readRealm(work, work.realmId));
  const wrong = emails.flatMap((email): Refused[] => {
    const problem = isEmail(email) ? problemOf(email) : 'Invalid address.';
    return problem === undefined ? [] : [[email, problem, false]];
  });
  if (wrong.length > 0)
    throw invitationFailed("Some emails did not validate, so we didn't send any invitations.", wrong, false);
  await lockRealm(work);
  const accounts = await work.any(sql.type(z.object({ email: z.string(), is_active: z.boolean() }))`
    SELECT lower(email) AS email, is_active FROM users.account
    WHERE realm_id = ${work.realmId} AND lower(email) = ANY(${sql.array(
      emails.map((email) => email.toLowerCase()),
      'text',
    )})`);
  const known = new Map(accounts.map((row) => [row.email, row.is_active]));
  const refused = emails.flatMap((email): Refused[] => {
    const isActive = known.get(email.toLowerCase());
    if (isActive === undefined) return [];
    return [[email, isActive ? 'Already has an account.' : 'Account has been deactivated.', !isActive]];
  });
  return { wanted: emails.filter((email) => !known.has(email.toLowerCase())), refused };
}

/** Accepts `Name <address>` and a plain address. */
export function addressOf(text: string): string {
  const entry = text.trim();
  return entry.length > maxEntryLength ? entry : (/<([^<>]+)>$/.exec(entry)?.[1] ?? entry).trim();
}
