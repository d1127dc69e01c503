import type { Logger } from '@natter/service-kit';
import type { Attempts } from '../authentication/attempts.ts';
import type { Guesses } from '../authentication/guesses.ts';
import type { Mailer } from '../mail/mailer.ts';

/** What changes of settings and pages that mails lead to need beside the tables. */
export interface SettingsTools {
  mailer: Mailer;
  log: Logger;
  attempts: Attempts;
  guesses: Guesses;
}
