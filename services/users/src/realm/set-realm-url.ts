import { userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { requireOwnHost } from './create-realm.ts';

export function setRealmUrlHandlers({ background }: Owner): Handlers {
  return [
    handle(userOperations.setRealmUrl, async ({ meta }, { realm_url }) =>
      background(meta.realmId, async (work) => {
        const realm = await work.one(sql.type(z.object({ host: z.string(), is_default: z.boolean() }))`
          SELECT host, is_default FROM users.realm WHERE id = ${work.realmId} FOR NO KEY UPDATE`);
        if (!realm.is_default) requireOwnHost(realm.host, realm_url);
        const changed = await work.run(
          sql.unsafe`UPDATE users.realm SET url = ${realm_url} WHERE id = ${work.realmId} AND url IS DISTINCT FROM ${realm_url}`,
        );
        // Other services cache the URL with the realm's policy.
        if (changed > 0) work.bump('realm');
        return {};
      }),
    ),
  ];
}
