import { userOperations } from '@natter/contracts';
import { type Handlers, handleStored, type Owner } from '@natter/service-kit';
import type { Guesses } from '../model/credentials/guesses.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { createApiKey } from '../model/credentials/passwords.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { addKey } from './add-key.ts';
import { checkLogin, lockLogin, mailLogin } from './check-login.ts';

export function fetchApiKeyHandlers({ database }: Owner, seal: KeySeal, mailer: Mailer, guesses: Guesses): Handlers {
  return [
    handleStored(
      userOperations.fetchApiKey,
      async ({ meta, write }, { username, password }) => {
        const account = await checkLogin(database, guesses, meta, { username: username.trim(), password });
        const key = createApiKey();
        return write(async (work) => {
          await lockLogin(work, account);
          await addKey(work, account.id, key, meta.client);
          await mailLogin(work, mailer, meta, account);
          return { sealed_key: seal.seal(key), email: account.email, user_id: account.id };
        });
      },
      ({ sealed_key, ...account }) => ({ api_key: seal.open(sealed_key), ...account }),
    ),
  ];
}
