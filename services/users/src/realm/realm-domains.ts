import { badRequest, realmOperations, totals } from '@natter/contracts';
import { duplicateAs, requireRoom, sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { readDomains } from '../model/email-domains.ts';
import { lockRealm } from '../model/read-realm.ts';
import { emitUpdate } from './update-realm.ts';

export function domainHandlers(owner: Owner): Handlers {
  return [
    handle(realmOperations.getRealmDomains, async ({ actor }) => ({
      domains: await readDomains(owner.database, actor.realmId),
    })),

    handleWrite(realmOperations.addRealmDomain, async (context, params) => {
      const { domain, allow_subdomains } = params;
      const problem = problemOf(domain);
      if (problem !== undefined) throw badRequest(`Invalid domain: ${problem}`);
      return context.write(async (work) => {
        // A removal at the same time would find no domain left and end the restriction.
        await lockRealm(work);
        const { id } = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.realm_domain (realm_id, domain, allow_subdomains) VALUES (${work.realmId}, ${domain}, ${allow_subdomains}) RETURNING id`)
          .catch(duplicateAs(() => badRequest(`The domain ${domain} is already a part of your organization.`)));
        await requireRoom(work, totals.realmDomains, sql.fragment`users.realm_domain WHERE realm_id = ${work.realmId}`);
        work.emit({
          type: 'realm_domains',
          op: 'add',
          body: { realm_domain: { domain, allow_subdomains } },
          audience: 'realm',
        });
        const new_domain: [number, string] = [id, domain];
        return { new_domain };
      });
    }),

    handleWrite(realmOperations.updateRealmDomain, async (context, { domain, allow_subdomains }) =>
      context.write(async (work) => {
        // An account that is made at the same time obeys the domains before this change, or those after it.
        await lockRealm(work);
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

    handleWrite(realmOperations.removeRealmDomain, async (context, { domain }) =>
      context.write(async (work) => {
        const realm = await lockRealm(work);
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.realm_domain WHERE realm_id = ${work.realmId} AND domain = ${domain}`,
        );
        if (removed === 0) throw badRequest(`No entry found for domain ${domain}.`);
        work.emit({ type: 'realm_domains', op: 'remove', body: { domain }, audience: 'realm' });
        const left = await readDomains(work, work.realmId);
        // With a restriction to domains but no domains left, no user could join.
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

const longestLabel = 63;

/** The error message if a text in lower case is no valid domain. */
function problemOf(domain: string): string | undefined {
  if (domain === '') return "Domain can't be empty.";
  if (!domain.includes('.')) return 'Domain must have at least one dot (.)';
  if (domain.startsWith('.') || domain.endsWith('.')) return 'Domain cannot start or end with a dot (.)';
  const labels = domain.split('.');
  if (labels.includes('')) return "Consecutive '.' are not allowed.";
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-')))
    return "Subdomains cannot start or end with a '-'.";
  if (!/^[a-z0-9.-]+$/.test(domain)) return "Domain can only have letters, numbers, '.' and '-'s.";
  if (labels.some((label) => label.length > longestLabel))
    return `Subdomains cannot be longer than ${longestLabel} characters.`;
  return undefined;
}
