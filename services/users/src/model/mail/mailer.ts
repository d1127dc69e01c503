import { setTimeout as pause } from 'node:timers/promises';
import type { Executor } from '@natter/database';
import type { Logger } from '@natter/service-kit';
import { createTransport } from 'nodemailer';
import { type CountedAddress, countMails, type DailyLimits, type Mailing, mayNotify } from './mail-limits.ts';

/** A mail server that is away, or refuses for now, is tried again for this long. */
const repeatForMs = 600_000;
const [firstPauseMs, longestPauseMs] = [1_000, 60_000];
/** When as many mails wait, each further one is tried once. */
const maxRepeated = 1_000;

export interface Mail {
  subject: string;
  text: string;
}

export interface Mailer {
  /**
   * Counts mails in the transaction that causes them; throws MailLimitHit above the daily limits. Returns the addresses, to
   * which they may then be sent.
   */
  count(executor: Executor, mailing: Mailing): Promise<CountedAddress[]>;
  /**
   * Sends a notice of a completed action, unless it exceeds the daily limits: the action is not refused because of its
   * mail. Not awaited; never fails its caller.
   */
  notify(executor: Executor, notice: Notice): void;
  /** Not awaited; never fails its caller: the action is complete, and the mail can be requested again. */
  send(to: CountedAddress, mail: Mail): void;
  /** Resolves when all mails are sent or have failed. */
  close(): Promise<void>;
}

interface Notice extends Pick<Mailing, 'realmId' | 'kind' | 'by'> {
  to: string;
  mail: Mail;
}

/** `off`: no mail server is configured. `limited`: a daily limit was reached, so a notice was left out. */
export type MailOutcome = 'sent' | 'failed' | 'off' | 'limited';

/**
 * Without the URL of a mail server nothing is sent. Mails contain secrets, so they are not logged: if `npm start`
 * started this process, the terminal shows them.
 */
export function createMailer(options: {
  url: string | undefined;
  from: string;
  limits: DailyLimits;
  log: Logger;
  /** Called once for each mail. */
  onOutcome: (outcome: MailOutcome) => void;
}): Mailer {
  const { url, from, log, limits, onOutcome } = options;
  const count: Mailer['count'] = (executor, mailing) => countMails(executor, limits, mailing);
  const notices = new Set<Promise<void>>();
  const notifyBy = (send: Mailer['send']): Mailer['notify'] => {
    const notify = async (executor: Executor, { to, mail, ...mailing }: Notice): Promise<void> => {
      const counted = await mayNotify(executor, limits, { ...mailing, addresses: [to] });
      if (counted) send(counted, mail);
      else {
        onOutcome('limited');
        log.info({ kind: mailing.kind, realm: mailing.realmId }, 'mail not sent: a daily limit is reached');
      }
    };
    return (executor, notice) => {
      const done: Promise<void> = notify(executor, notice)
        .catch((error: unknown) => {
          onOutcome('failed');
          log.warn({ err: error, kind: notice.kind }, 'mail not sent');
        })
        .finally(() => notices.delete(done));
      notices.add(done);
    };
  };
  if (!url) {
    const show: Mailer['send'] = (to, mail) => {
      onOutcome('off');
      if (process.connected) process.send?.({ mail: { to: String(to), ...mail } });
      else log.warn({ subject: mail.subject }, 'mail not sent: no mail server is configured (NATTER_SMTP_URL)');
    };
    return {
      count,
      notify: notifyBy(show),
      send: show,
      close: async () => void (await Promise.all(notices)),
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
  const closing = new AbortController();
  const send: Mailer['send'] = (to, { subject, text }) => {
    const isCrowded = sending.size >= maxRepeated;
    const sent: Promise<void> = untilTaken(isCrowded ? AbortSignal.abort() : closing.signal, () =>
      transport.sendMail({ from, to: String(to), subject, text }),
    )
      .then(
        () => {
          onOutcome('sent');
          log.debug({ subject }, 'mail sent');
        },
        (error: unknown) => {
          onOutcome('failed');
          log.warn({ err: error, subject }, 'mail not sent');
        },
      )
      .finally(() => sending.delete(sent));
    sending.add(sent);
  };
  return {
    count,
    notify: notifyBy(send),
    send,
    async close() {
      await Promise.all(notices);
      closing.abort();
      await Promise.all(sending);
      transport.close();
    },
  };
}

/** Repeats an attempt while the mail server is away or refuses for now; once more at most after `signal` is aborted. */
async function untilTaken(signal: AbortSignal, attempt: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + repeatForMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (signal.aborted || !isPassing(error) || performance.now() > end) throw error;
    }
    await pause(pauseMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

/** No connection, or an answer of the class 4xx. */
function isPassing(error: unknown): boolean {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  if (responseCode !== undefined) return responseCode >= 400 && responseCode < 500;
  return code !== undefined && /^(?:ECONN|ESOCKET$|ETIMEDOUT$|EDNS$|EHOSTUNREACH$|ENETUNREACH$)/.test(code);
}
