import type { Handlers, Logger, Owner } from '@natter/service-kit';
import type { Mailer } from '../mail/mailer.ts';
import { commandHandlers } from './commands.ts';
import { confirmPageHandlers } from './confirm-pages.ts';
import { updateDefaultsHandlers } from './update-defaults.ts';
import { updateSettingsHandlers } from './update-settings.ts';

export { settingsSnapshots } from './settings-snapshot.ts';

export const settingsHandlers = (owner: Owner, mailer: Mailer, log: Logger): Handlers => [
  ...updateSettingsHandlers(owner, mailer),
  ...updateDefaultsHandlers(owner),
  ...commandHandlers(owner),
  ...confirmPageHandlers(owner, mailer, log),
];
