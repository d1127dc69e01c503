import { Counter, type Metrics } from '@natter/service-kit';
import type { MailOutcome } from './mailer.ts';

const outcomes: readonly MailOutcome[] = ['sent', 'failed', 'off', 'limited', 'delayed'];

export function countMailOutcomes({ registry }: Metrics): (outcome: MailOutcome) => void {
  const mails = new Counter({
    name: 'natter_mails_total',
    help: 'Mails by outcome: sent, failed, delayed (waiting for ten minutes), off (no mail server) or limited (a daily limit)',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // An increase from nothing to 1 would not be seen.
  for (const outcome of outcomes) mails.inc({ outcome }, 0);
  return (outcome) => mails.inc({ outcome });
}
