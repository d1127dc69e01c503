import type { Executor, Work } from '@natter/database';
import type { Context } from '@natter/service-kit';
import { mailLinkOf } from './invitation-row.ts';
import type { Mailer } from './mail/mailer.ts';
import { invitationMail } from './mail/mails.ts';
import { readRealm } from './read-realm.ts';

/** Sends the mail of an invitation. Must not fail the request: the invitation exists and can be sent again. */
export interface SendInvitation {
  (context: Pick<Context, 'meta'>, email: string, key: string): Promise<void>;
  /** Counts invitations in the transaction that creates them; throws above the daily limits. */
  count(work: Work, addresses: readonly string[], personId?: number): Promise<void>;
}

/** In the language of the realm, because the invited user has none yet. */
export function mailInvitation(executor: Executor, mailer: Mailer): SendInvitation {
  const send = async ({ meta }: Pick<Context, 'meta'>, email: string, key: string): Promise<void> => {
    const { settings, url } = await readRealm(executor, meta.realmId);
    const values = { realm: settings.name, link: mailLinkOf(url, key) };
    mailer.send(email, invitationMail(settings.default_language, values));
  };
  const count = (work: Work, addresses: readonly string[], personId?: number): Promise<void> =>
    mailer.count(work, {
      realmId: work.realmId,
      // Users of a reusable link do not use up the invitations of members.
      kind: personId === undefined ? 'link' : 'invitation',
      addresses,
      ...(personId === undefined ? {} : { personId }),
    });
  return Object.assign(send, { count });
}
