import { ChatError, type RequestMeta } from '@natter/contracts';
import { sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { checkEmailForm } from '../accounts/change-email.ts';
import { checkEmailDomain } from '../realm/domains.ts';
import { type Realm, readRealm } from '../realm/read-realm.ts';
import { newInvitationKey, storedKey } from './invitation-key.ts';
import type { SendInvitation } from './invitation-mail.ts';
import { findByKey, type InvitationRow } from './invitation-row.ts';

/** Whether who opened the link must first show that the address is theirs; an invitation by mail shows it. */
export const verifiesAddress = ({ settings }: Realm, { email }: Pick<InvitationRow, 'email'>): boolean =>
  email === null && (settings.emails_restricted_to_domains || settings.invite_links_verify_email);

/** The answer to who joins by a reusable link, whether there is an account with the address or not. */
export const mailSent = (): ChatError =>
  new ChatError('BAD_REQUEST', 'Open the link that was mailed to this address to make the account.', {
    is_mail_sent: true,
  });

interface Asked {
  context: { meta: RequestMeta };
  key: string;
  email: string;
}

/** Mails an invitation that conveys what the link does, ends with it, and is for this address alone. */
export async function inviteToVerify(
  owner: Owner,
  send: SendInvitation,
  { context, key, email }: Asked,
): Promise<void> {
  const { realmId } = context.meta;
  checkEmailForm(email);
  await checkEmailDomain(owner.database, await readRealm(owner.database, realmId), email);
  const mailedKey = newInvitationKey();
  const isMade = await owner
    .unitOfWork({ realmId, schema: 'users', claim: undefined }, async (work) => {
      const link = await findByKey(work, realmId, key, sql.fragment`FOR SHARE`);
      if (!link) return false;
      await send.count(work, [email]);
      // One for each address: a newer request ends the older mail.
      await work.run(
        sql.unsafe`DELETE FROM users.invitation WHERE realm_id = ${realmId} AND link_id = ${link.id} AND lower(email) = lower(${email})`,
      );
      const made = await work.run(sql.unsafe`
      INSERT INTO users.invitation (realm_id, key, email, inviter_id, invite_as, channel_ids, group_ids, default_channels, welcome_text, notify_inviter, expires_at, link_id)
      SELECT realm_id, ${storedKey(mailedKey)}, ${email}, inviter_id, invite_as, channel_ids, group_ids, default_channels, welcome_text, notify_inviter,
        least(expires_at, now() + interval '24 hours'), id
      FROM users.invitation l WHERE l.id = ${link.id}
        AND NOT EXISTS (SELECT FROM users.account a WHERE a.realm_id = l.realm_id AND lower(a.email) = lower(${email}))`);
      return made > 0;
    })
    .catch((error: unknown) => {
      // The answer is the same: it tells nobody what was mailed to whom.
      if (error instanceof ChatError && error.code === 'RATE_LIMIT_HIT') return false;
      throw error;
    });
  if (isMade) await send(context, email, mailedKey);
}
