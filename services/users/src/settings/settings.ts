import {
  type Actor,
  badRequest,
  type ParamsOf,
  roles,
  settingsOperations,
  type UserSettingName,
  userSettingNames,
} from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { type Handlers, handleWrite, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import type { AccountRow } from '../model/account-row.ts';
import { administratorsAnd, announceEmail } from '../model/announce-account.ts';
import { checkEmailForm, checkMayChangeEmail, checkNewEmail } from '../model/change-email.ts';
import { newConfirmation } from '../model/confirmations.ts';
import { hashPassword, verifyPassword } from '../model/credentials/passwords.ts';
import { endCredentials } from '../model/end-credentials.ts';
import { lockAccount, noSuchUser } from '../model/find-account.ts';
import { changeFullName, checkedFullName } from '../model/full-name.ts';
import { confirmEmailMail } from '../model/mail/mails.ts';
import { lockRealm, type Realm, readRealm } from '../model/read-realm.ts';
import { announceSetting } from '../model/settings-events.ts';
import type { SettingsTools } from '../model/settings-tools.ts';
import { readSettings } from '../model/stored-settings.ts';
import { lockUserVisibility } from '../model/user-visibility.ts';

type Params = ParamsOf<typeof settingsOperations.updateSettings>;

const emailWindows = [
  { seconds: 3_600, most: 2 },
  { seconds: 86_400, most: 5 },
];

export function updateSettingsHandlers(owner: Owner, { mailer, attempts, guesses }: SettingsTools): Handlers {
  const { updateSettings, updateDisplaySettings, updateNotificationSettings } = settingsOperations;
  return [updateSettings, updateDisplaySettings, updateNotificationSettings].map((operation) =>
    handleWrite(operation, async (context, params) => {
      const secrets = await checkSecrets(context, params);
      await limitEmailChanges(context, params);
      return context.write(async (work) => {
        const { ignored, mail } = await store(work, context, params, secrets);
        if (mail) await mailConfirmation(work, mail, context.actor);
        return ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
      });
    }),
  );

  async function mailConfirmation(work: Work, { to, key, realm, language }: Mail, { userId }: Actor): Promise<void> {
    const mailing = { realmId: realm.id, kind: 'account', by: { personId: userId }, addresses: [to] } as const;
    const link = `${realm.url}/accounts/confirm_new_email/${key}`;
    const mail = confirmEmailMail(language, { realm: realm.settings.name, link });
    const counted = await mailer.count(work, mailing);
    await mailer.send(
      work,
      counted.map((address) => ({ to: address, mail })),
    );
  }

  /** A new password and a new address both require the current password. */
  async function checkSecrets(context: UserContext, params: Params): Promise<Secrets | undefined> {
    const { actor, meta } = context;
    const { old_password, new_password, email } = params;
    const account = await owner.database.one(sql.type(secretRow)`
      SELECT email, password_hash FROM users.account WHERE id = ${actor.userId}`);
    const isNewEmail = email !== undefined && email !== '' && email !== account.email;
    if (!new_password && !isNewEmail) return undefined;
    if (account.password_hash === null)
      throw badRequest(
        'Your account has no password. Have a link mailed to you at /accounts/password/reset to set one.',
      );
    if (old_password === undefined)
      throw badRequest(
        new_password ? 'Missing old password!' : 'Changing the address needs your password: old_password',
      );
    const verified = account.password_hash;
    // Counted by user and network, separately from logins: guesses with a stolen key delay nobody else. Not counted by
    // key, because its holder can create new ones.
    const by = { realmId: meta.realmId, network: `settings:${actor.userId}:${meta.network ?? 'unknown'}` };
    const isRight = await guesses.attempt(by, { userId: actor.userId }, async () =>
      (await verifyPassword(verified, old_password, context)) ? true : undefined,
    );
    if (!isRight) throw badRequest('Wrong password!');
    return { verified, next: new_password ? await hashPassword(new_password, context) : undefined };
  }

  async function limitEmailChanges({ actor, meta }: UserContext, { email }: Params): Promise<void> {
    if (email === undefined || email === '') return;
    const { email: own } = await owner.database.one(
      sql.type(z.object({ email: z.string() }))`SELECT email FROM users.account WHERE id = ${actor.userId}`,
    );
    if (own === email) return;
    checkEmailForm(email);
    // Counted before the answer reveals whether the address is taken.
    for (const window of emailWindows)
      await attempts.count(meta.realmId, `email:${actor.userId}:${window.seconds}`, window);
    await checkNewEmail(owner.database, await readRealm(owner.database, meta.realmId), email, actor.userId);
  }
}

const secretRow = z.object({ email: z.string(), password_hash: z.string().nullable() });

/** The hash against which the given password was verified, and the hash of the new one. */
interface Secrets {
  verified: string;
  next: string | undefined;
}

interface Mail {
  to: string;
  key: string;
  realm: Realm;
  language: string;
}

async function store(
  work: Work,
  { actor }: UserContext,
  params: Params,
  secrets: Secrets | undefined,
): Promise<{ ignored: string[]; mail: Mail | undefined }> {
  const realm = await realmFor(work, params);
  const row = await lockAccount(work, actor.userId);
  if (!row) throw noSuchUser();
  const ignored = [
    ...(await storeName(work, realm, row, params.full_name)),
    ...(await storeValues(work, row, params)),
    ...(params.new_password === '' ? ['new_password'] : []),
  ];
  if (params.old_password !== undefined && !secrets) ignored.push('old_password');
  if (secrets) await storePassword(work, secrets, actor);
  if (params.email === undefined) return { ignored, mail: undefined };
  if (params.email === row.email || params.email === '') return { ignored: [...ignored, 'email'], mail: undefined };
  checkMayChangeEmail(realm, row);
  await checkNewEmail(work, realm, params.email, row.id);
  const key = await newConfirmation(work, row.id, 'email', params.email);
  const { default_language } = await readSettings(work, row.id);
  return { ignored, mail: { to: params.email, key, realm, language: default_language } };
}

/** The realm is locked before accounts, in the mode that the changes need. */
async function realmFor(work: Work, params: Params): Promise<Realm> {
  // The check of a name locks the realm; the receivers of the other changes depend on roles.
  const isLocked =
    params.full_name !== undefined ||
    params.email_address_visibility !== undefined ||
    params.allow_private_data_export !== undefined;
  if (isLocked) return lockRealm(work);
  // Changes of these settings are announced to all users who may see this user.
  if (params.timezone !== undefined || params.presence_enabled !== undefined) await lockUserVisibility(work);
  return readRealm(work, work.realmId);
}

/** Fails if the password was changed since it was verified. Other keys end with the old password. */
async function storePassword(work: Work, { verified, next }: Secrets, { userId, keyId }: Actor): Promise<void> {
  const stored = await work.run(sql.unsafe`
    UPDATE users.account SET password_hash = ${next ?? verified} WHERE id = ${userId} AND password_hash = ${verified}`);
  if (stored === 0) throw badRequest('Wrong password!');
  if (next !== undefined) await endCredentials(work, userId, keyId);
}

/** Returns the name of the setting if it already has the value, or may not change. */
async function storeName(work: Work, realm: Realm, row: AccountRow, given: string | undefined): Promise<string[]> {
  if (given === undefined) return [];
  if (given.trim() === row.full_name) return ['full_name'];
  if (realm.settings.name_changes_disabled && row.role > roles.administrator) return ['full_name'];
  await changeFullName(work, realm, row, checkedFullName(given));
  return [];
}

/** Returns the names of settings that already have the value. */
export async function storeValues(work: Work, row: AccountRow, params: Partial<Params>): Promise<string[]> {
  const before = await readSettings(work, row.id);
  const given = userSettingNames.filter((name) => params[name] !== undefined);
  const changed = given.filter((name) => params[name] !== before[name]);
  if (changed.length > 0) {
    const values = Object.fromEntries(changed.map((name) => [name, params[name]]));
    await work.run(sql.unsafe`
      UPDATE users.account SET settings = settings || ${JSON.stringify(values)}::jsonb WHERE id = ${row.id}`);
    for (const name of changed) if (params[name] !== undefined) announceSetting(work, row, name, params[name]);
    if (changed.includes('email_address_visibility')) await announceEmail(work, row);
    const consented = params.allow_private_data_export;
    if (changed.includes('allow_private_data_export') && consented !== undefined) {
      const body = { user_id: row.id, consented };
      work.emit({ type: 'realm_export_consent', body, audience: await administratorsAnd(work, null) });
    }
  }
  return given.filter((name: UserSettingName) => !changed.includes(name));
}
