import type { Handlers, Owner } from '@natter/service-kit';
import { createInviteLinkHandlers } from './create-invite-link.ts';
import { editInviteLinkHandlers } from './edit-invite-link.ts';
import { openInviteHandlers } from './invitations.ts';
import { createInviteHandlers, type Inviting } from './send-invites.ts';

export const invitationHandlers = (owner: Owner, tools: Inviting): Handlers => [
  ...createInviteHandlers(tools),
  ...createInviteLinkHandlers(tools),
  ...editInviteLinkHandlers(owner, tools.bus),
  ...openInviteHandlers(owner, tools.seal, tools.send),
];
