import { badRequest } from '@natter/contracts';
import { type Decision, hasRealmPermission } from '../deciding.ts';
import { insufficientPermission } from '../refusals.ts';

/** The three switches: the server's, the realm's, and the permission (specification 4.3). */
export function checkMayBeWebPublic(decision: Decision): void {
  if (!decision.service.webPublicStreamsEnabled || !decision.policy.settings.enable_spectator_access)
    throw badRequest('Web-public channels are not enabled.');
  if (!hasRealmPermission(decision, 'can_create_web_public_channel_group')) throw insufficientPermission();
}
