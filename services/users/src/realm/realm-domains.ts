import { badRequest, realmOperations, totals } from '@natter/contracts';
import { requireRoom, sql, sqlState } from '@natter/database';
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
      if (!isDomain(domain)) throw badRequest('Invalid domain: Domain must have at least one dot (.)');
      return context.write(async (work) => {
        // A removal at the same time would find no domain left and end the restriction.
        await lockRealm(work);
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

    handleWrite(realmOperations.updateRealmDomain, async (context, { domain, allow_subdomains }) =>
      context.write(async (work) => {
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

const isDomain = (domain: string): boolean =>
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(domain);
