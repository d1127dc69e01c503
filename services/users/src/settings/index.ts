import type { Handlers, Owner } from '@natter/service-kit';
import { commandHandlers } from './commands.ts';
import { confirmPageHandlers } from './confirm-pages.ts';
import type { SettingsTools } from './tools.ts';
import { updateDefaultsHandlers } from './update-defaults.ts';
import { updateSettingsHandlers } from './update-settings.ts';

export { settingsSnapshots } from './settings-snapshot.ts';

export const settingsHandlers = (owner: Owner, tools: SettingsTools): Handlers => [
  ...updateSettingsHandlers(owner, tools),
  ...updateDefaultsHandlers(owner),
  ...commandHandlers(owner),
  ...confirmPageHandlers(owner, tools),
];
