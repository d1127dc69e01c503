import { ChatError, settingsOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { findConfirmation, takeConfirmation } from '../model/confirmations.ts';
import { checkPassword, hashPassword } from '../model/credentials/passwords.ts';
import { endCredentials } from '../model/end-credentials.ts';
import { escaped, gone, plainPage } from '../model/plain-page.ts';
import type { SettingsTools } from '../model/settings-tools.ts';
import type { PasswordRequests } from './password-requests.ts';
import { limitResets } from './password-resets.ts';

export function passwordResetHandlers(
  { database }: Owner,
  { attempts }: SettingsTools,
  requests: PasswordRequests,
): Handlers {
  return [
    handle(settingsOperations.forgottenPage, async () =>
      plainPage(
        200,
        'Forgotten password',
        `<form method="post" action="/accounts/password/reset">
<label>Email <input name="email" type="email" required autocomplete="email"></label><button>Send me a link</button></form>`,
      ),
    ),

    handleWrite(settingsOperations.askForPassword, async ({ meta, write }, { email }) => {
      // The same whether or not the account exists.
      const answer = await write(async (work) => {
        await requests.add(work, { email, network: meta.network ?? 'unknown' });
        // Last, because an attempt that PostgreSQL refuses does not count.
        await limitResets(attempts, meta, email);
        return plainPage(
          200,
          'Look into your mail',
          '<p>If there is an account with this address, a link is on its way. Links that you got within a day work too, until one is used.</p>',
        );
      });
      requests.wake();
      return answer;
    }),

    handle(settingsOperations.newPasswordPage, async ({ meta }, { key }) =>
      (await findConfirmation(database, { realmId: meta.realmId, kind: 'password', key }))
        ? newPasswordForm(key)
        : gone(),
    ),

    handleWrite(settingsOperations.setPassword, async ({ meta, write }, { key, password }) => {
      if (!(await findConfirmation(database, { realmId: meta.realmId, kind: 'password', key }))) return gone();
      try {
        checkPassword(password);
      } catch (error) {
        if (error instanceof ChatError) return newPasswordForm(key, error.message);
        throw error;
      }
      const hash = await hashPassword(password, { meta });
      return write(async (work) => {
        const taken = await takeConfirmation(work, { realmId: work.realmId, kind: 'password', key });
        if (!taken) return gone();
        const stored = await work.run(sql.unsafe`
          UPDATE users.account SET password_hash = ${hash}
          WHERE id = ${taken.row.id} AND is_active AND lower(email) = lower(${taken.email})`);
        if (stored === 0) return gone();
        await endCredentials(work, taken.row.id);
        return plainPage(
          200,
          'Your password is changed',
          '<p>All your apps and browsers are logged out. <a href="/accounts/login">Log in</a> with the new password.</p>',
        );
      });
    }),
  ];
}

const problemOf = (problem: string): string => `<p class="problem" role="alert">${escaped(problem)}</p>`;

const newPasswordForm = (key: string, problem?: string) =>
  plainPage(
    problem === undefined ? 200 : 400,
    'Set a new password',
    `${problem === undefined ? '' : problemOf(problem)}<form method="post" action="/accounts/password/reset/${encodeURIComponent(key)}">
<label>New password <input name="password" type="password" required autocomplete="new-password"></label><button>Set password</button></form>`,
  );
