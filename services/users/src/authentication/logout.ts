import { userOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { announceRevoked } from '../model/api-keys.ts';
import { lockAccount } from '../model/find-account.ts';
import { plainPage } from '../model/plain-page.ts';

export function logoutHandlers(): Handlers {
  return [
    handleWrite(userOperations.logout, async ({ actor, write }, { everywhere }) =>
      write(async (work) => {
        // A login that has not been committed yet ends too.
        if (everywhere) await lockAccount(work, actor.userId);
        await work.run(sql.unsafe`
          DELETE FROM users.api_key
          WHERE user_id = ${actor.userId} AND (${everywhere} OR hash = decode(${actor.keyId}, 'hex'))`);
        announceRevoked(work, actor.userId);
        return { ...plainPage(303, 'Logged out', ''), location: '/accounts/login', session: null };
      }),
    ),
  ];
}
