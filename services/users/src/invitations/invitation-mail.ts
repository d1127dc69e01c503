import type { Executor } from '@natter/database';
import type { Context } from '@natter/service-kit';
import type { Mailer } from '../mail/mailer.ts';
import { invitationMail } from '../mail/mails.ts';
import { readRealm } from '../realm/read-realm.ts';
import { mailLinkOf } from './invitation-row.ts';

/** Sends the mail of an invitation. Must not fail the request: the invitation stands and can be sent again. */
export type SendInvitation = (context: Pick<Context, 'meta'>, email: string, key: string) => Promise<void>;

/** In the language of the realm: who is invited has none yet. */
export const mailInvitation =
  (executor: Executor, mailer: Mailer): SendInvitation =>
  async ({ meta }, email, key) => {
    const { settings, url } = await readRealm(executor, meta.realmId);
    mailer.send(email, invitationMail(settings.default_language, { realm: settings.name, link: mailLinkOf(url, key) }));
  };
