import type { Bus, Handlers, Owner } from '@natter/service-kit';
import type { KeySeal } from '../authentication/key-seal.ts';
import type { UsersConfig } from '../config.ts';
import { createInviteHandlers } from './create-invites.ts';
import type { SendInvitation } from './invitation-mail.ts';
import { joinHandlers } from './join.ts';
import { openInviteHandlers } from './open-invites.ts';

export const invitationHandlers = (
  owner: Owner,
  bus: Bus,
  config: UsersConfig,
  seal: KeySeal,
  send: SendInvitation,
): Handlers => [
  ...createInviteHandlers(owner, bus, { config, seal, send }),
  ...openInviteHandlers(owner, seal, send),
  ...joinHandlers(owner, seal, send),
];
