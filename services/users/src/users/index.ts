import type { Bus, Handlers, Owner } from '@natter/service-kit';
import type { UsersConfig } from '../model/config.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import type { Mailer } from '../model/mail/mailer.ts';
import { addPersonHandlers } from './add-person.ts';
import { createUserHandlers } from './create-user.ts';
import { deactivateSelfHandlers } from './deactivate-self.ts';
import { deactivateHandlers } from './deactivate-user.ts';
import { getOwnUserHandlers } from './get-own-user.ts';
import { readUserHandlers } from './get-users.ts';
import { grantRightsHandlers } from './grant-rights.ts';
import { reactivateUserHandlers } from './reactivate-user.ts';
import { setUserRoleHandlers } from './set-user-role.ts';
import { updateUserHandlers } from './update-user.ts';

export const accountHandlers = (
  owner: Owner,
  { bus, config, seal, mailer }: { bus: Bus; config: UsersConfig; seal: KeySeal; mailer: Mailer },
): Handlers => [
  ...createUserHandlers(owner),
  ...addPersonHandlers(owner),
  ...grantRightsHandlers(owner, seal),
  ...setUserRoleHandlers(owner, seal),
  ...readUserHandlers(owner, config),
  ...getOwnUserHandlers(owner, bus),
  ...updateUserHandlers(owner, seal, mailer),
  ...deactivateHandlers(seal, mailer),
  ...reactivateUserHandlers(seal),
  ...deactivateSelfHandlers(seal),
];
