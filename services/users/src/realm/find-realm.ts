import { ChatError, defaultRealmUrl, userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';

export function findRealmHandlers({ database }: Owner): Handlers {
  return [
    handle(userOperations.findRealm, async (_, { host }) => {
      const realm = await database.maybeOne(sql.type(foundRow)`
        SELECT id, host, url FROM users.realm WHERE host = ${host} OR is_default ORDER BY (host = ${host}) DESC LIMIT 1`);
      if (!realm) throw new ChatError('NONEXISTENT_SUBDOMAIN', 'Subdomain does not exist');
      return { realm_id: realm.id, realm_url: realm.url ?? defaultRealmUrl(realm.host), host: realm.host };
    }),
  ];
}
const foundRow = z.object({ id: z.number(), host: z.string(), url: z.string().nullable() });
