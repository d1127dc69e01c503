import { badRequest } from '@natter/contracts';
import type { UserContext } from '@natter/service-kit';

export function refuseBots({ actor }: Pick<UserContext, 'actor'>): void {
  if (actor.isBot) throw badRequest('This endpoint does not accept bot requests.');
}
