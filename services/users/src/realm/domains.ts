import { badRequest, realmDomainSchema, realmOperations, totals } from '@natter/contracts';
import { type Executor, requireRoom, sql, sqlState } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { change } from '../change.ts';
import { holderOf, requireOwner } from '../groups/holder.ts';
import { lockRealm, type Realm } from './read-realm.ts';
import { emitUpdate } from './update-realm.ts';

type RealmDomain = z.infer<typeof realmDomainSchema>;

export function domainHandlers(owner: Owner): Handlers {
  return [
    handle(realmOperations.getRealmDomains, async ({ actor }) => ({
      domains: await readDomains(owner.database, actor.realmId),
    })),

    handle(realmOperations.addRealmDomain, async (context, params) => {
      const { domain, allow_subdomains } = params;
      if (!isDomain(domain)) throw badRequest('Invalid domain: Domain must have at least one dot (.)');
      return change(owner, context, async (work) => {
        requireOwner(await holderOf(work, context.actor.userId));
        const { id } = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.realm_domain (realm_id, domain, allow_subdomains) VALUES (${work.realmId}, ${domain}, ${allow_subdomains}) RETURNING id`)
          .catch((error: unknown) => {
            if (sqlState(error) === '23505')
              throw badRequest(`The domain ${domain} is already a part of your organization.`);
            throw error;
          });
        await requireRoom(work, totals.realmDomains, sql.fragment`users.realm_domain WHERE realm_id = ${work.realmId}`);
        work.emit({
          type: 'realm_domains',
          op: 'add',
          body: { realm_domain: { domain, allow_subdomains } },
          audience: 'realm',
        });
        return { new_domain: [id, domain] as [number, string] };
      });
    }),

    handle(realmOperations.updateRealmDomain, async (context, { domain, allow_subdomains }) =>
      change(owner, context, async (work) => {
        requireOwner(await holderOf(work, context.actor.userId));
        const updated = await work.run(
          sql.unsafe`UPDATE users.realm_domain SET allow_subdomains = ${allow_subdomains} WHERE realm_id = ${work.realmId} AND domain = ${domain}`,
        );
        if (updated === 0) throw badRequest(`No entry found for domain ${domain}.`);
        work.emit({
          type: 'realm_domains',
          op: 'change',
          body: { realm_domain: { domain, allow_subdomains } },
          audience: 'realm',
        });
        return {};
      }),
    ),

    handle(realmOperations.removeRealmDomain, async (context, { domain }) =>
      change(owner, context, async (work) => {
        requireOwner(await holderOf(work, context.actor.userId));
        const realm = await lockRealm(work);
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.realm_domain WHERE realm_id = ${work.realmId} AND domain = ${domain}`,
        );
        if (removed === 0) throw badRequest(`No entry found for domain ${domain}.`);
        work.emit({ type: 'realm_domains', op: 'remove', body: { domain }, audience: 'realm' });
        const left = await readDomains(work, work.realmId);
        // Restricted to no domain at all, nobody could join.
        if (left.length === 0 && realm.settings.emails_restricted_to_domains) {
          await work.run(
            sql.unsafe`UPDATE users.realm SET settings = settings - 'emails_restricted_to_domains' WHERE id = ${work.realmId}`,
          );
          work.bump('realm');
          emitUpdate(work, 'emails_restricted_to_domains', false);
        }
        return {};
      }),
    ),
  ];
}

export const readDomains = (executor: Executor, realmId: number): Promise<RealmDomain[]> =>
  executor.any(
    sql.type(
      realmDomainSchema,
    )`SELECT domain, allow_subdomains FROM users.realm_domain WHERE realm_id = ${realmId} ORDER BY id`,
  );

/** Refuses an address that the realm does not let in. */
export async function checkEmailDomain(executor: Executor, realm: Realm, email: string): Promise<void> {
  const domain = email.split('@').at(-1)?.toLowerCase() ?? '';
  // `user12@host` names user 12 wherever an address is hidden.
  if (domain === realm.host && /^user\d+@/i.test(email)) throw badRequest('This email address is reserved.');
  if (realm.settings.emails_restricted_to_domains) {
    if (email.split('@')[0]?.includes('+'))
      throw badRequest('Email addresses containing + are not allowed in this organization.');
    const domains = await readDomains(executor, realm.id);
    const isAllowed = domains.some(
      (allowed) => domain === allowed.domain || (allowed.allow_subdomains && domain.endsWith(`.${allowed.domain}`)),
    );
    if (!isAllowed) throw badRequest('Your email address is not from an allowed domain.');
    return;
  }
  if (realm.settings.disallow_disposable_email_addresses && disposableDomains.has(domain))
    throw badRequest('Please use your real email address.');
}

const isDomain = (domain: string): boolean =>
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(domain);

/** The best known of those that give an address to anybody for minutes. */
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
