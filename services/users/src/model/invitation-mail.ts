import type { Work } from '@natter/database';
import { mailLinkOf } from './invitation-row.ts';
import type { CountedAddress, Mailing } from './mail/mail-limits.ts';
import type { Mailer } from './mail/mailer.ts';
import { invitationMail } from './mail/mails.ts';
import type { Realm } from './read-realm.ts';

/** Sends the mail of an invitation. Must not fail the request: the invitation exists and can be sent again. */
export interface SendInvitation {
  (realm: Realm, to: CountedAddress, key: string): void;
  /** Counts invitations in the transaction that creates them; throws MailLimitHit above the daily limits. */
  count(work: Work, addresses: readonly string[], by: Mailing['by']): Promise<CountedAddress[]>;
}

/** In the language of the realm, because the invited user has none yet. */
export function mailInvitation(mailer: Mailer): SendInvitation {
  const send = ({ settings, url }: Realm, to: CountedAddress, key: string): void =>
    mailer.send(to, invitationMail(settings.default_language, { realm: settings.name, link: mailLinkOf(url, key) }));
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
