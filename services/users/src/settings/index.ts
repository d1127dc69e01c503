import type { Handlers, Owner } from '@natter/service-kit';
import type { SettingsTools } from '../model/settings-tools.ts';
import { confirmPageHandlers } from './confirm-email.ts';
import { updateSettingsHandlers } from './settings.ts';
import { updateDefaultsHandlers } from './update-settings-defaults.ts';
import { commandHandlers } from './zcommand.ts';

export const settingsHandlers = (owner: Owner, tools: SettingsTools): Handlers => [
  ...updateSettingsHandlers(owner, tools),
  ...updateDefaultsHandlers(),
  ...commandHandlers(),
  ...confirmPageHandlers(owner, tools),
];
