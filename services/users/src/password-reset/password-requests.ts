import { sql, type Work } from '@natter/database';
import { apartFromRequest, forEachApart, type Owner, repeat } from '@natter/service-kit';
import { z } from 'zod';
import { MailLimitHit } from '../model/mail/mail-limits.ts';
import type { SettingsTools } from '../model/settings-tools.ts';
import { mailResetLink } from './password-resets.ts';

/** Requests of other processes, and those whose process was lost, are found after this time. */
const lookMs = 2_000;
/** A process that has not served a request after this time counts as lost, or has failed; another one serves it. */
const leaseSeconds = 60;
const requestsAtOnce = 100;

const requestRow = z.object({ id: z.string(), realm_id: z.number() });
const askedRow = z.object({ email: z.string(), network: z.string(), is_late: z.boolean() });

/**
 * Requests for links to set a password. Each is committed before it is answered, with the same statements whether or not the
 * address has an account. Only later it is looked up, and mailed.
 */
export interface PasswordRequests {
  add(work: Work, request: { email: string; network: string }): Promise<void>;
  /** Serves the requests soon. */
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

export function createPasswordRequests(
  { database, background }: Pick<Owner, 'database' | 'background'>,
  { mailer, log }: Pick<SettingsTools, 'mailer' | 'log'>,
): PasswordRequests {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopLooking = async (): Promise<void> => undefined;
  const onError = (error: unknown): void => log.warn({ err: error }, 'mailing links to set a password failed');

  async function serve(): Promise<void> {
    // A time that is later than any lease was set before the clock of the database was set back.
    const due = await database.any(sql.type(requestRow)`
      UPDATE users.password_request SET due_at = now() + make_interval(secs => ${leaseSeconds})
      WHERE id = ANY(ARRAY(
        SELECT id FROM users.password_request WHERE due_at <= now() OR due_at > now() + make_interval(secs => ${leaseSeconds})
        ORDER BY due_at LIMIT ${requestsAtOnce} FOR UPDATE SKIP LOCKED))
      RETURNING id::text AS id, realm_id`);
    await forEachApart(due, { isStopped: () => isStopped, onError }, serveOne);
  }

  async function serveOne({ id, realm_id }: z.infer<typeof requestRow>): Promise<void> {
    const take = sql.type(askedRow)`
      DELETE FROM users.password_request WHERE id = ${id}::bigint
      RETURNING email, network, requested_at < now() - interval '24 hours' AS is_late`;
    try {
      await background(realm_id, async (work) => {
        const asked = await work.maybeOne(take);
        if (asked && !asked.is_late) await mailResetLink(work, mailer, asked);
      });
    } catch (error) {
      if (!(error instanceof MailLimitHit)) throw error;
      // In a unit of its own, because a mail that is not sent does not count.
      await database.maybeOne(take);
      log.info({ limit: error.what, realm: realm_id }, 'mail not sent: a daily limit is reached');
    }
  }

  const look = (): Promise<void> => {
    running = running.then(() => (isStopped ? undefined : serve().catch(onError)));
    return running;
  };

  return {
    async add(work, { email, network }) {
      await work.run(sql.unsafe`
        INSERT INTO users.password_request (realm_id, email, network) VALUES (${work.realmId}, ${email}, ${network})`);
    },
    wake() {
      const begin = (): void => {
        timer = undefined;
        void look();
      };
      // The work begins after the answer was sent: the time of the answer must not show whether an account exists.
      if (!isStopped) timer ??= apartFromRequest(() => setTimeout(begin, 50 + Math.random() * 200));
    },
    start() {
      stopLooking = repeat({ everyMs: lookMs, firstMs: 0, onError }, look);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await stopLooking();
      await running;
    },
  };
}
