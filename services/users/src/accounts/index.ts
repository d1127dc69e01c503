import type { Bus, Handlers, Owner } from '@natter/service-kit';
import type { KeySeal } from '../authentication/key-seal.ts';
import type { UsersConfig } from '../config.ts';
import type { Mailer } from '../mail/mailer.ts';
import { createUserHandlers } from './create-user.ts';
import { deactivateHandlers } from './deactivate.ts';
import { readUserHandlers } from './read-users.ts';
import { updateUserHandlers } from './update-user.ts';

export const accountHandlers = (
  owner: Owner,
  bus: Bus,
  config: UsersConfig,
  seal: KeySeal,
  mailer: Mailer,
): Handlers => [
  ...createUserHandlers(owner),
  ...readUserHandlers(owner, bus, config),
  ...updateUserHandlers(owner, seal, mailer),
  ...deactivateHandlers(owner, seal, mailer),
];
