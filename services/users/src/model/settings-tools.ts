import type { Logger } from '@natter/service-kit';
import type { Attempts } from './credentials/attempts.ts';
import type { Guesses } from './credentials/guesses.ts';
import type { Mailer } from './mail/mailer.ts';

/** Tools beside the database for changes of settings and for pages opened from mails. */
export interface SettingsTools {
  mailer: Mailer;
  log: Logger;
  attempts: Attempts;
  guesses: Guesses;
}
