import { type Playground, playgroundSchema } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';

export const readPlaygrounds = (executor: Executor, realmId: number): Promise<Playground[]> =>
  executor.any(
    sql.type(
      playgroundSchema,
    )`SELECT id, name, pygments_language, url_template FROM users.playground WHERE realm_id = ${realmId} ORDER BY id`,
  );
