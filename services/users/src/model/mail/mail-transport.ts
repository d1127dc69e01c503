import type { Logger } from '@natter/service-kit';
import { createTransport } from 'nodemailer';
import type { AddressedMail } from './mail.ts';

/** Mails that are sent at once. */
export const mailsAtOnce = 5;
/** Maximum silence of a mail server. A server that accepts a mail after it was given up gets the mail again. */
const silenceMs = 120_000;
/** The whole attempt: a server may answer slowly each time. */
export const attemptMs = 180_000;

export interface MailTransport {
  /** The outcome that is counted for a delivered mail. `off`: no mail server is configured. */
  readonly outcome: 'sent' | 'off';
  /** Rejects if the server did not accept the mail. */
  deliver(mail: AddressedMail): Promise<void>;
  close(): void;
}

/**
 * Without the URL of a mail server nothing is sent. Mails contain secrets, so they are not logged: if `npm start`
 * started this process, the terminal shows them.
 */
export function createMailTransport(url: string | undefined, from: string, log: Logger): MailTransport {
  if (!url)
    return {
      outcome: 'off',
      async deliver(mail) {
        if (process.connected) process.send?.({ mail });
        else log.warn({ subject: mail.subject }, 'mail not sent: no mail server is configured (NATTER_SMTP_URL)');
      },
      close: () => undefined,
    };
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: mailsAtOnce,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: silenceMs,
  });
  return {
    outcome: 'sent',
    deliver: async (mail) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('The mail server took too long')), attemptMs);
        timer.unref();
      });
      const sent = transport.sendMail({ from, ...mail });
      // After the time limit, nothing handles a rejection.
      sent.catch(() => undefined);
      await Promise.race([sent, late]).finally(() => clearTimeout(timer));
    },
    close: () => transport.close(),
  };
}

/**
 * Whether the server refused the address or the content of this mail for good (5xx), or the address cannot be written in
 * SMTP. A server that refuses the connection, the login or the sender may accept the mail once its operator has repaired
 * that.
 */
export function isRefusedForGood(error: unknown): boolean {
  const { code, command, responseCode = 0 } = error as { code?: string; command?: string; responseCode?: number };
  if (code === 'EENVELOPE') return command === 'API' || (command === 'RCPT TO' && responseCode >= 500);
  return code === 'EMESSAGE' && responseCode >= 500;
}
