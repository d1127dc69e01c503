import { ChatError } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Context, Owner, Writing } from '@natter/service-kit';
import { z } from 'zod';
import { checkEmailForm } from '../model/change-email.ts';
import { checkEmailDomain } from '../model/email-domains.ts';
import { newInvitationKey, storedKey } from '../model/invitation-key.ts';
import type { SendInvitation } from '../model/invitation-mail.ts';
import { findByKey, type InvitationRow } from '../model/invitation-row.ts';
import { MailLimitHit } from '../model/mail/mail-limits.ts';
import { lockRealm, type Realm, readRealm } from '../model/read-realm.ts';

/** Whether the user of the link must verify their address first; an invitation by mail has verified it. */
export const verifiesAddress = ({ settings }: Realm, { email }: Pick<InvitationRow, 'email'>): boolean =>
  email === null && (settings.emails_restricted_to_domains || settings.invite_links_verify_email);

/** The answer to a user of a reusable link. It is the same whether or not the address has an account. */
export const mailSent = (): ChatError =>
  new ChatError('BAD_REQUEST', 'Open the link that was mailed to this address to make the account.', {
    is_mail_sent: true,
  });

const madeRow = z.object({ seconds: z.number(), is_known: z.boolean() });

interface Asked<R> {
  context: Context & Writing;
  key: string;
  email: string;
  /** The result of the request, whether or not the address has an account. */
  mailed: R;
}

/**
 * Mails an invitation for this address alone that grants the same as the link and ends with it. Throws MailLimitHit if the
 * realm or the network has no more mails today.
 *
 * For an address with an account, the same is counted, stored and mailed, so that the time of the answer does not reveal the
 * account. The invitation is closed then, and its key is not mailed.
 */
export async function inviteToVerify<R>(
  owner: Owner,
  send: SendInvitation,
  { context, key, email, mailed }: Asked<R>,
): Promise<R> {
  const { realmId, network = 'unknown' } = context.meta;
  checkEmailForm(email);
  const realm = await readRealm(owner.database, realmId);
  await checkEmailDomain(owner.database, realm, email);
  const mailedKey = newInvitationKey();
  const invite = async (work: Work): Promise<R> => {
    // Locked before the link, so that no account with the address is created meanwhile.
    await lockRealm(work);
    const link = await findByKey(work, realmId, key, sql.fragment`FOR SHARE`);
    if (!link) return mailed;
    const [counted] = await send.count(work, [email], { network });
    // One per address: a newer request invalidates the older mail.
    await work.run(
      sql.unsafe`DELETE FROM users.invitation WHERE realm_id = ${realmId} AND link_id = ${link.id} AND lower(email) = lower(${email})`,
    );
    // The link decides what the invitation grants; the columns are copied because they are not null.
    const made = await work.one(sql.type(madeRow)`
      INSERT INTO users.invitation (realm_id, key, email, inviter_id, invite_as, channel_ids, group_ids, default_channels, welcome_text, notify_inviter, expires_at, link_id, is_closed)
      SELECT realm_id, ${storedKey(mailedKey)}, ${email}, inviter_id, invite_as, channel_ids, group_ids, default_channels, welcome_text, notify_inviter,
        least(expires_at, now() + interval '24 hours'), id,
        EXISTS (SELECT FROM users.account a WHERE a.realm_id = l.realm_id AND lower(a.email) = lower(${email}))
      FROM users.invitation l WHERE id = ${link.id}
      RETURNING extract(epoch FROM expires_at - now())::float8 AS seconds, is_closed AS is_known`);
    const invitation = { key: mailedKey, validSeconds: made.seconds, isKnown: made.is_known };
    if (counted) await send(work, realm, [{ to: counted, ...invitation }]);
    return mailed;
  };
  return context.write(invite).catch((error: unknown) => {
    // The answer does not reveal that others requested mails to this address.
    if (error instanceof MailLimitHit && error.what === 'address') return mailed;
    throw error;
  });
}
