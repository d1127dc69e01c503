import { badRequest, roles } from '@natter/contracts';
import { type Executor, sql, sqlState, type Work } from '@natter/database';
import { z } from 'zod';
import { endLinks } from '../authentication/end-credentials.ts';
import type { Mailer } from '../mail/mailer.ts';
import { addressChangedMail } from '../mail/mails.ts';
import { checkEmailDomain } from '../realm/domains.ts';
import type { Realm } from '../realm/read-realm.ts';
import { readSettings } from '../settings/stored-settings.ts';
import type { AccountRow } from './account-row.ts';
import { announceEmail } from './announce-account.ts';

const emailForm = z.email();

export function checkEmailForm(email: string): void {
  if (email.length > 254 || !emailForm.safeParse(email).success) throw badRequest('Invalid email address');
}

/** Whether a person may change their own address: when they ask for it, and when they open the link that was mailed. */
export function checkMayChangeEmail(realm: Realm, { role }: Pick<AccountRow, 'role'>): void {
  if (realm.settings.email_changes_disabled && role > roles.administrator)
    throw badRequest('Email address changes are disabled in this organization.');
}

/** Refuses what is no address, what the realm does not let in, and what somebody else has. */
export async function checkNewEmail(executor: Executor, realm: Realm, email: string, ownId = 0): Promise<void> {
  checkEmailForm(email);
  await checkEmailDomain(executor, realm, email);
  const taken = await executor.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${realm.id} AND lower(email) = lower(${email}) AND id <> ${ownId}`);
  if (taken) throw inUse(email);
}

const inUse = (email: string) => badRequest(`Email is already in use: '${email}'`);

/** The realm is locked: nobody gains or loses the sight of addresses meanwhile. Links that were mailed before work no more. */
export async function changeEmail(work: Work, row: AccountRow, email: string): Promise<void> {
  await work.run(sql.unsafe`UPDATE users.account SET email = ${email} WHERE id = ${row.id}`).catch((error: unknown) => {
    throw sqlState(error) === '23505' ? inUse(email) : error;
  });
  await endLinks(work, row.id);
  await announceEmail(work, row);
  work.bump(`actor:${row.id}`);
}

/** What the address before a change is told, after the commit. */
export interface AddressChange {
  before: string;
  after: string;
  realm: string;
  language: string;
}

/** Counts the mail in the transaction of the change: a change that the old address would not be told of is refused. */
export async function addressChange(
  work: Work,
  realm: Realm,
  { row, after, mailer, personId }: { row: AccountRow; after: string; mailer: Mailer; personId?: number },
): Promise<AddressChange> {
  const { default_language: language } = await readSettings(work, row.id);
  const by = personId === undefined ? {} : { personId };
  await mailer.count(work, { realmId: work.realmId, kind: 'address change', addresses: [row.email], ...by });
  return { before: row.email, after, realm: realm.settings.name, language };
}

export const mailAddressChange = (mailer: Mailer, { before, after, realm, language }: AddressChange): void =>
  mailer.send(before, addressChangedMail(language, { realm, email: after }));
