import { badRequest, roles } from '@natter/contracts';
import { duplicateAs, type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import type { AccountRow } from './account-row.ts';
import { announceEmail } from './announce-account.ts';
import { announceBotChange } from './announce-bot.ts';
import { checkEmailDomain } from './email-domains.ts';
import { endLinks } from './end-credentials.ts';
import { endInvitesFor } from './invitation-row.ts';
import type { Mailer } from './mail/mailer.ts';
import { addressChangedMail } from './mail/mails.ts';
import type { Realm } from './read-realm.ts';
import { readSettings } from './stored-settings.ts';

const emailForm = z.email();
/** RFC 5321 permits no longer address. */
export const maxEmailLength = 254;

export const isEmail = (text: string): boolean => text.length <= maxEmailLength && emailForm.safeParse(text).success;

export function checkEmailForm(email: string): void {
  if (!isEmail(email)) throw badRequest('Invalid email address');
}

/** Whether a user may change their own address. Checked at the request, and when the mailed link is opened. */
export function checkMayChangeEmail(realm: Realm, { role }: Pick<AccountRow, 'role'>): void {
  if (realm.settings.email_changes_disabled && role > roles.administrator)
    throw badRequest('Email address changes are disabled in this organization.');
}

/** Refuses an invalid address, one that the realm does not permit, and one that is taken. */
export async function checkNewEmail(executor: Executor, realm: Realm, email: string, ownId = 0): Promise<void> {
  checkEmailForm(email);
  await checkEmailDomain(executor, realm, email);
  const taken = await executor.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${realm.id} AND lower(email) = lower(${email}) AND id <> ${ownId}`);
  if (taken) throw inUse(email);
}

const inUse = (email: string) => badRequest(`Email is already in use: '${email}'`);

/**
 * The realm is locked, so that visibility of addresses does not change meanwhile. Previously mailed links, and invitations
 * for the new address, become invalid.
 */
export async function changeEmail(work: Work, row: AccountRow, email: string): Promise<void> {
  await work
    .run(sql.unsafe`UPDATE users.account SET email = ${email} WHERE id = ${row.id}`)
    .catch(duplicateAs(() => inUse(email)));
  await endLinks(work, row.id);
  await announceEmail(work, row);
  if (row.is_bot) await announceBotChange(work, row, { email });
  else await endInvitesFor(work, email);
}

/**
 * Mails the previous address of an account that its address was changed. If the mail exceeds a limit, the change is
 * refused.
 */
export async function mailAddressChange(
  work: Work,
  realm: Realm,
  { row, after, mailer, personId }: { row: AccountRow; after: string; mailer: Mailer; personId: number },
): Promise<void> {
  const { default_language: language } = await readSettings(work, row.id);
  const mailing = { realmId: work.realmId, kind: 'address change', addresses: [row.email], by: { personId } } as const;
  const mail = addressChangedMail(language, { realm: realm.settings.name, email: after });
  const counted = await mailer.count(work, mailing);
  await mailer.send(
    work,
    counted.map((to) => ({ to, mail })),
  );
}
