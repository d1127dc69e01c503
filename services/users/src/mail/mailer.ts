import type { Executor } from '@natter/database';
import type { Logger } from '@natter/service-kit';
import { createTransport } from 'nodemailer';
import { countMails, type DailyLimits, type Mailing } from './mail-limits.ts';

export interface Mail {
  subject: string;
  text: string;
}

export interface Mailer {
  /** Counts mails in the transaction that causes them; throws RATE_LIMIT_HIT over the limits of a day. */
  count(executor: Executor, mailing: Mailing): Promise<void>;
  /** Does not wait and never fails its caller: what was done stands, and can be asked for again. */
  send(to: string, mail: Mail): void;
  /** Resolves when all that was given is sent, or has failed. */
  close(): Promise<void>;
}

/**
 * Without the URL of a mail server nothing is sent. A mail holds secrets, so no log shows it: where `npm start` started this process, the
 * terminal does.
 */
export function createMailer(options: {
  url: string | undefined;
  from: string;
  limits: DailyLimits;
  log: Logger;
}): Mailer {
  const { url, from, log, limits } = options;
  const count: Mailer['count'] = (executor, mailing) => countMails(executor, limits, mailing);
  if (!url) {
    return {
      count,
      send: (to, mail) => {
        if (process.connected) process.send?.({ mail: { to, ...mail } });
        else log.warn({ subject: mail.subject }, 'mail not sent: no mail server is configured (NATTER_SMTP_URL)');
      },
      close: async () => undefined,
    };
  }
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 5,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  });
  const sending = new Set<Promise<void>>();
  return {
    count,
    send(to, { subject, text }) {
      const sent: Promise<void> = transport
        .sendMail({ from, to, subject, text })
        .then(
          () => log.debug({ subject }, 'mail sent'),
          (error: unknown) => log.warn({ err: error, subject }, 'mail not sent'),
        )
        .finally(() => sending.delete(sent));
      sending.add(sent);
    },
    async close() {
      await Promise.all(sending);
      transport.close();
    },
  };
}
