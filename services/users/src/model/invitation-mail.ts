import type { Work } from '@natter/database';
import { mailLinkOf } from './invitation-row.ts';
import type { Mail } from './mail/mail.ts';
import type { CountedAddress, Mailing } from './mail/mail-limits.ts';
import type { Mailer } from './mail/mailer.ts';
import { accountExistsMail, invitationMail } from './mail/mails.ts';
import type { Realm } from './read-realm.ts';

interface InvitationToMail {
  to: CountedAddress;
  key: string;
  /** Number of seconds until the invitation ends; undefined if it does not end. */
  validSeconds: number | undefined;
  /** Whether the address has an account. Then the mail, of the same size, has no key and informs about the account. */
  isKnown?: boolean;
}

/** Sends the mails of invitations after the commit of the unit. */
export interface SendInvitation {
  (work: Work, realm: Realm, invitations: readonly InvitationToMail[]): Promise<void>;
  /** Counts invitations in the transaction that creates them; throws MailLimitHit above the daily limits. */
  count(work: Work, addresses: readonly string[], by: Mailing['by']): Promise<CountedAddress[]>;
}

/** In the language of the realm, because the invited user has none yet. */
export function mailInvitation(mailer: Pick<Mailer, 'count' | 'send'>): SendInvitation {
  const send = (work: Work, { settings, url }: Realm, invitations: readonly InvitationToMail[]): Promise<void> => {
    const { name: realm, default_language: language } = settings;
    const mailOf = ({ key, isKnown = false }: InvitationToMail): Mail =>
      isKnown
        ? accountExistsMail(language, { realm, link: `${url}/accounts/password/reset` })
        : invitationMail(language, { realm, link: mailLinkOf(url, key) });
    return mailer.send(
      work,
      invitations.map((one) => ({ to: one.to, mail: mailOf(one), linkSeconds: one.validSeconds })),
    );
  };
  const count: SendInvitation['count'] = (work, addresses, by) =>
    mailer.count(work, {
      realmId: work.realmId,
      // Users of a reusable link do not use up the invitations of members.
      kind: 'network' in by ? 'link' : 'invitation',
      addresses,
      by,
    });
  return Object.assign(send, { count });
}
