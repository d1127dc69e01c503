import type { Context } from '@natter/service-kit';

/** Sends the mail of an invitation. Must not fail the request: the invitation stands and can be sent again. */
export type SendInvitation = (context: Context, email: string, link: string) => Promise<void>;

/** Shows mails instead of sending them. */
export const showInvitation: SendInvitation = async ({ log }, email, link) => {
  log.info({ to: email, link }, 'mail: you are invited');
};
