import { isRefusal, settingsOperations } from '@natter/contracts';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { changeEmail, checkMayChangeEmail, checkNewEmail, mailAddressChange } from '../model/change-email.ts';
import { findConfirmation, takeConfirmation } from '../model/confirmations.ts';
import { escaped, gone, plainPage } from '../model/plain-page.ts';
import { lockRealm } from '../model/read-realm.ts';
import type { SettingsTools } from '../model/settings-tools.ts';

/** Pages that are opened from mails. */
export function confirmPageHandlers(owner: Owner, { mailer }: SettingsTools): Handlers {
  const { database } = owner;
  return [
    // Mail scanners open links, so only the form on the page has an effect.
    handle(settingsOperations.confirmEmailPage, async ({ meta }, { key }) => {
      const found = await findConfirmation(database, { realmId: meta.realmId, kind: 'email', key });
      return found ? newAddressForm(key, found.email) : gone();
    }),

    handleWrite(settingsOperations.confirmEmail, ({ write }, { key }) =>
      write(async (work) => {
        const realm = await lockRealm(work);
        const taken = await takeConfirmation(work, { realmId: work.realmId, kind: 'email', key });
        if (!taken?.row.is_active || realm.isDeactivated) return gone();
        const { row, email } = taken;
        checkMayChangeEmail(realm, row);
        await checkNewEmail(work, realm, email, row.id);
        await changeEmail(work, row, email);
        await mailAddressChange(work, realm, { row, after: email, mailer, personId: row.id });
        return plainPage(
          200,
          'Your address is changed',
          `<p>Your account is <strong>${escaped(email)}</strong> now.</p>`,
        );
      }).catch((error: unknown) => {
        if (isRefusal(error)) return gone();
        throw error;
      }),
    ),
  ];
}

const newAddressForm = (key: string, email: string) =>
  plainPage(
    200,
    'Confirm your new address',
    `<p>Your account is to have the address <strong>${escaped(email)}</strong>.</p>
<form method="post" action="/accounts/confirm_new_email/${encodeURIComponent(key)}"><button>Use this address</button></form>`,
  );
