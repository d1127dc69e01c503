import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Executor, UnitOfWork, Work } from '@natter/database';
import { apartFromRequest, type Logger, repeat } from '@natter/service-kit';
import type { KeySeal } from '../credentials/key-seal.ts';
import type { Mail } from './mail.ts';
import { type CountedAddress, countMails, type DailyLimits, type Mailing, mayNotify } from './mail-limits.ts';
import { createMailQueue, maxAttempts, type Outgoing, type QueuedMail } from './mail-queue.ts';
import { createMailTransport, isRefusedForGood, mailsAtOnce } from './mail-transport.ts';

/** Mails of other processes, and those whose next attempt is due, are found after this time. */
const lookMs = 2_000;
/** Mails that wait for longer are reported to the operator. */
const delayedSeconds = 600;
/** How long a stopping process waits for the mails that it is sending. */
const closeMs = 5_000;
const removeAttempts = 5;

export interface Mailer {
  /**
   * Counts mails in the transaction that causes them; throws MailLimitHit above the daily limits. Returns the addresses, to
   * which they may then be sent.
   */
  count(executor: Executor, mailing: Mailing): Promise<CountedAddress[]>;
  /** Sends mails after the commit of the unit. */
  send(work: Work, mails: readonly Outgoing[]): Promise<void>;
  /** Sends a notice of an action, unless it exceeds the daily limits: the action is not refused because of its mail. */
  notify(work: Work, notice: Notice): Promise<void>;
  /** Units of the service: their mails are sent when they are committed. */
  wrapUnits(unitOfWork: UnitOfWork): UnitOfWork;
  start(database: Database): void;
  /** Stops sending mails. Waiting mails stay in the queue. */
  close(): Promise<void>;
}

interface Notice extends Pick<Mailing, 'kind' | 'by'> {
  to: string;
  mail: Mail;
}

/**
 * `off`: no mail server is configured. `limited`: a daily limit was reached, so a notice was left out. `delayed`: an attempt
 * failed for a mail that has waited for ten minutes. `failed`: the mail server refused the mail, or it expired.
 */
export type MailOutcome = 'sent' | 'failed' | 'off' | 'limited' | 'delayed';

export function createMailer(options: {
  url: string | undefined;
  from: string;
  limits: DailyLimits;
  seal: KeySeal;
  log: Logger;
  onOutcome: (outcome: MailOutcome) => void;
}): Mailer {
  const { log, limits, onOutcome } = options;
  let database: Database | undefined;
  const queue = createMailQueue(options.seal, () => {
    if (!database) throw new Error('the mailer was not started');
    return database;
  });
  const transport = createMailTransport(options.url, options.from, log);
  const sending = new Set<Promise<void>>();
  /** Units that have queued a mail. */
  const withMail = new WeakSet<Work>();
  let isClosing = false;
  let stopLooking = async (): Promise<void> => undefined;
  const onError = (error: unknown): void => log.warn({ err: error }, 'reading the mails that wait failed');

  let isAgainWanted = false;
  let looking: Promise<void> | undefined;
  function look(): Promise<void> {
    isAgainWanted = true;
    looking ??= takeDue()
      .catch(onError)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  async function takeDue(): Promise<void> {
    while (isAgainWanted && !isClosing && sending.size < mailsAtOnce) {
      isAgainWanted = false;
      for (const mail of await queue.take(mailsAtOnce - sending.size)) begin(mail);
    }
  }

  function begin(mail: QueuedMail): void {
    const done: Promise<void> = sendOne(mail)
      .catch((error: unknown) => log.warn({ err: error }, 'a mail stays in the queue'))
      .finally(() => {
        sending.delete(done);
        wake();
      });
    sending.add(done);
  }

  const wake = (): void => {
    if (database && !isClosing) void apartFromRequest(look);
  };

  async function sendOne(queued: QueuedMail): Promise<void> {
    const { id, mail, attempts, isExpired } = queued;
    if (isExpired) return end(id, 'it has expired');
    // Another process may have the secret while it is being changed, or be of the release that queued the mail.
    if (!mail) return queue.putBack(queued);
    try {
      await transport.deliver(mail);
    } catch (error) {
      if (isRefusedForGood(error) || attempts >= maxAttempts) return end(id, 'the mail server refused it', error);
      if (queued.waitedSeconds > delayedSeconds || queued.waitedSeconds < 0) {
        onOutcome('delayed');
        log.warn({ err: error, attempts }, 'mail not sent yet');
      }
      return queue.putBack(queued);
    }
    onOutcome(transport.outcome);
    log.debug({ subject: mail.subject }, 'mail sent');
    await remove(id);
  }

  async function end(id: string, reason: string, error?: unknown): Promise<void> {
    onOutcome('failed');
    log.warn({ err: error, reason }, 'mail not sent');
    await remove(id);
  }

  /** A mail that was sent and stays in the queue would be sent again. */
  async function remove(id: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await queue.remove(id);
      } catch (error) {
        if (attempt >= removeAttempts) throw error;
      }
      await pause(1_000 * attempt, undefined, { ref: false });
    }
  }

  const send: Mailer['send'] = async (work, mails) => {
    if (mails.length === 0) return;
    await queue.add(work, work.realmId, mails);
    withMail.add(work);
  };

  return {
    count: (executor, mailing) => countMails(executor, limits, mailing),
    send,
    async notify(work, { to, mail, ...notice }) {
      const mailing = { realmId: work.realmId, ...notice, addresses: [to] as const };
      const counted = await mayNotify(work, limits, mailing);
      if (counted) return send(work, [{ to: counted, mail }]);
      onOutcome('limited');
      log.info({ kind: notice.kind, realm: work.realmId }, 'mail not sent: a daily limit is reached');
    },
    wrapUnits: (unitOfWork) => async (unit, handler) => {
      let last: Work | undefined;
      const result = await unitOfWork(unit, (work) => {
        last = work;
        return handler(work);
      });
      if (last && withMail.has(last)) wake();
      return result;
    },
    start(opened) {
      database = opened;
      stopLooking = repeat({ everyMs: lookMs, firstMs: 0, onError }, look);
    },
    async close() {
      isClosing = true;
      const sent = Promise.all([stopLooking(), looking]).then(() => Promise.all(sending));
      await Promise.race([sent, pause(closeMs, undefined, { ref: false })]);
      transport.close();
    },
  };
}
