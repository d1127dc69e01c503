import { ChatError } from '@natter/contracts';

/** Each refused address, the reason, and whether its account is deactivated. */
export type Refused = [email: string, reason: string, isDeactivated: boolean];

export const invitationFailed = (
  message: string,
  errors: Refused[],
  sent_invitations: boolean,
  daily_limit_reached = false,
): ChatError =>
  new ChatError('INVITATION_FAILED', message, {
    errors,
    sent_invitations,
    daily_limit_reached,
    license_limit_reached: false,
  });
