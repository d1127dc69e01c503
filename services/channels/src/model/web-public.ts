import { badRequest, insufficientPermission } from '@natter/contracts';
import { type Decision, hasRealmPermission } from './deciding.ts';

/** Checks the server's setting, the realm's setting, and the permission. */
export function checkMayBeWebPublic(decision: Decision): void {
  if (!decision.service.webPublicStreamsEnabled || !decision.policy.settings.enable_spectator_access)
    throw badRequest('Web-public channels are not enabled.');
  if (!hasRealmPermission(decision, 'can_create_web_public_channel_group')) throw insufficientPermission();
}
