import { badRequest, realmDomainSchema } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import type { z } from 'zod';
import type { Realm } from './read-realm.ts';

type RealmDomain = z.infer<typeof realmDomainSchema>;

export const readDomains = (executor: Executor, realmId: number): Promise<RealmDomain[]> =>
  executor.any(
    sql.type(
      realmDomainSchema,
    )`SELECT domain, allow_subdomains FROM users.realm_domain WHERE realm_id = ${realmId} ORDER BY id`,
  );

/** Refuses an address that the realm does not permit. */
export async function checkEmailDomain(executor: Executor, realm: Realm, email: string): Promise<void> {
  const problem = (await readDomainRule(executor, realm))(email);
  if (problem !== undefined) throw badRequest(problem);
}

/** Returns a function that returns the error message for an address that the realm does not permit. */
export async function readDomainRule(executor: Executor, realm: Realm): Promise<(email: string) => string | undefined> {
  const { emails_restricted_to_domains: isRestricted, disallow_disposable_email_addresses: isStrict } = realm.settings;
  const domains = isRestricted ? await readDomains(executor, realm.id) : [];
  return (email) => {
    const domain = email.split('@').at(-1)?.toLowerCase() ?? '';
    // `user12@host` is the placeholder address of user 12.
    if (domain === realm.host && /^user\d+@/i.test(email)) return 'This email address is reserved.';
    if (!isRestricted)
      return isStrict && disposableDomains.has(domain) ? 'Please use your real email address.' : undefined;
    if (email.split('@')[0]?.includes('+')) return 'Email addresses containing + are not allowed in this organization.';
    const isAllowed = domains.some(
      (allowed) => domain === allowed.domain || (allowed.allow_subdomains && domain.endsWith(`.${allowed.domain}`)),
    );
    return isAllowed ? undefined : 'Your email address is not from an allowed domain.';
  };
}

/** The best-known providers of disposable addresses. */
const disposableDomains = new Set([
  '10minutemail.com',
  'discard.email',
  'dispostable.com',
  'fakeinbox.com',
  'getnada.com',
  'guerrillamail.com',
  'mailcatch.com',
  'maildrop.cc',
  'mailinator.com',
  'mailnesia.com',
  'mintemail.com',
  'sharklasers.com',
  'temp-mail.org',
  'tempmail.com',
  'throwawaymail.com',
  'trashmail.com',
  'yopmail.com',
]);
