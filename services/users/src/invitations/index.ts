import type { Bus, Handlers, Owner } from '@natter/service-kit';
import type { UsersConfig } from '../model/config.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import type { SendInvitation } from '../model/invitation-mail.ts';
import { createInviteLinkHandlers } from './create-invite-link.ts';
import { editInviteLinkHandlers } from './edit-invite-link.ts';
import { openInviteHandlers } from './invitations.ts';
import { createInviteHandlers } from './send-invites.ts';

export const invitationHandlers = (
  owner: Owner,
  bus: Bus,
  config: UsersConfig,
  seal: KeySeal,
  send: SendInvitation,
): Handlers => [
  ...createInviteHandlers({ bus, config, seal, send }),
  ...createInviteLinkHandlers({ bus, config, seal, send }),
  ...editInviteLinkHandlers(bus),
  ...openInviteHandlers(owner, seal, send),
];
