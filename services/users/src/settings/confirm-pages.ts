import { ChatError, type RequestMeta, settingsOperations } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import {
  type AddressChange,
  addressChange,
  changeEmail,
  checkMayChangeEmail,
  checkNewEmail,
  mailAddressChange,
} from '../accounts/change-email.ts';
import { lockAccount } from '../accounts/find-account.ts';
import { endCredentials } from '../authentication/end-credentials.ts';
import { checkPassword, hashPassword } from '../authentication/passwords.ts';
import { forgottenPasswordMail } from '../mail/mails.ts';
import { lockRealm, readRealm } from '../realm/read-realm.ts';
import { findConfirmation, takeConfirmation } from './confirmations.ts';
import { limitResets, makeResetLink } from './password-resets.ts';
import { escaped, plainPage } from './plain-page.ts';
import type { SettingsTools } from './tools.ts';

const gone = () =>
  plainPage(404, 'This link does not work', '<p>It was used already, or has expired. Ask for a new one.</p>');
const problemOf = (problem: string): string => `<p class="problem" role="alert">${escaped(problem)}</p>`;

/** What links in mails open. */
export function confirmPageHandlers(owner: Owner, { mailer, log, attempts }: SettingsTools): Handlers {
  const { database, unitOfWork } = owner;
  return [
    // Scanners of mail open links: only the form on the page does something.
    handle(settingsOperations.confirmEmailPage, async ({ meta }, { key }) => {
      const found = await findConfirmation(database, meta.realmId, 'email', key);
      return found ? newAddressForm(key, found.email) : gone();
    }),

    handle(settingsOperations.confirmEmail, async ({ meta, claim }, { key }) => {
      let told: AddressChange | undefined;
      const page = await unitOfWork({ realmId: meta.realmId, schema: 'users', claim }, async (work) => {
        told = undefined;
        const realm = await lockRealm(work);
        const taken = await takeConfirmation(work, work.realmId, 'email', key);
        const row = taken && (await lockAccount(work, taken.user_id));
        if (!row?.is_active || realm.isDeactivated) return gone();
        checkMayChangeEmail(realm, row);
        await checkNewEmail(work, realm, taken?.email ?? '', row.id);
        await changeEmail(work, row, taken?.email ?? '');
        const email = taken?.email ?? '';
        told = await addressChange(work, realm, { row, after: email, mailer });
        return plainPage(
          200,
          'Your address is changed',
          `<p>Your account is <strong>${escaped(email)}</strong> now.</p>`,
        );
      }).catch((error: unknown) => {
        if (error instanceof ChatError && error.status < 500) return gone();
        throw error;
      });
      if (told) mailAddressChange(mailer, told);
      return page;
    }),

    handle(settingsOperations.forgottenPage, async () =>
      plainPage(
        200,
        'Forgotten password',
        `<form method="post" action="/accounts/password/reset">
<label>Email <input name="email" type="email" required autocomplete="email"></label><button>Send me a link</button></form>`,
      ),
    ),

    handle(settingsOperations.askForPassword, async ({ meta }, { email }) => {
      await limitResets(attempts, meta, email);
      // Not waited for: the time to answer tells nobody whether there is such an account.
      void mailLink(meta, email).catch((error: unknown) =>
        log.warn({ err: error }, 'link to set a password not mailed'),
      );
      // The same whether there is such an account or not.
      return plainPage(
        200,
        'Look into your mail',
        '<p>If there is an account with this address, a link is on its way. Links that you got within a day work too, until one is used.</p>',
      );
    }),

    handle(settingsOperations.newPasswordPage, async ({ meta }, { key }) =>
      (await findConfirmation(database, meta.realmId, 'password', key)) ? newPasswordForm(key) : gone(),
    ),

    handle(settingsOperations.setPassword, async ({ meta, claim }, { key, password }) => {
      if (!(await findConfirmation(database, meta.realmId, 'password', key))) return gone();
      try {
        checkPassword(password);
      } catch (error) {
        if (error instanceof ChatError) return newPasswordForm(key, error.message);
        throw error;
      }
      const hash = await hashPassword(password);
      return unitOfWork({ realmId: meta.realmId, schema: 'users', claim }, async (work) => {
        const taken = await takeConfirmation(work, work.realmId, 'password', key);
        if (!taken) return gone();
        const stored = await work.run(sql.unsafe`
          UPDATE users.account SET password_hash = ${hash}
          WHERE id = ${taken.user_id} AND is_active AND lower(email) = lower(${taken.email})`);
        if (stored === 0) return gone();
        await endCredentials(work, taken.user_id);
        return plainPage(
          200,
          'Your password is changed',
          '<p>Log in with it in your apps: all of them are logged out.</p>',
        );
      });
    }),
  ];

  async function mailLink(meta: RequestMeta, email: string): Promise<void> {
    const account = await database.maybeOne(sql.type(
      z.object({ id: z.number(), email: z.string(), language: z.string() }),
    )`
      SELECT a.id, a.email, coalesce(a.settings->>'default_language', 'en') AS language
      FROM users.account a JOIN users.realm r ON r.id = a.realm_id
      WHERE a.realm_id = ${meta.realmId} AND lower(a.email) = lower(${email}) AND a.is_active AND NOT a.is_bot AND NOT r.is_deactivated`);
    if (!account) return;
    const key = await makeResetLink(owner, meta.realmId, account.id);
    if (key === undefined) return;
    const { url, settings } = await readRealm(database, meta.realmId);
    const link = `${url}/accounts/password/reset/${key}`;
    mailer.send(account.email, forgottenPasswordMail(account.language, { realm: settings.name, link }));
  }
}

const newPasswordForm = (key: string, problem?: string) =>
  plainPage(
    problem === undefined ? 200 : 400,
    'Set a new password',
    `${problem === undefined ? '' : problemOf(problem)}<form method="post" action="/accounts/password/reset/${encodeURIComponent(key)}">
<label>New password <input name="password" type="password" required autocomplete="new-password"></label><button>Set password</button></form>`,
  );

const newAddressForm = (key: string, email: string) =>
  plainPage(
    200,
    'Confirm your new address',
    `<p>Your account is to have the address <strong>${escaped(email)}</strong>.</p>
<form method="post" action="/accounts/confirm_new_email/${encodeURIComponent(key)}"><button>Use this address</button></form>`,
  );
