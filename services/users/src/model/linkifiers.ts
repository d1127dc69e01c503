import { type Linkifier, linkifierSchema } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';

export const readLinkifiers = (executor: Executor, realmId: number): Promise<Linkifier[]> =>
  executor.any(
    sql.type(
      linkifierSchema,
    )`SELECT id, pattern, url_template FROM users.linkifier WHERE realm_id = ${realmId} ORDER BY position, id`,
  );
