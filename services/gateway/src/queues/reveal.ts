import { type Actor, botOperations, type RequestMeta, type Withheld } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';

/**
 * Adds secrets that the log does not contain, if this user may currently see them. `event` is JSON; its id stays last.
 */
export async function reveal(
  bus: Bus,
  caller: { meta: RequestMeta; actor: Actor },
  { in: member, kind, id, fields }: Withheld,
  event: string,
): Promise<string> {
  const values = await bus.call(botOperations.reveal, { user_id: caller.actor.userId, kind, id, fields }, caller);
  const parsed = JSON.parse(event) as Record<string, object>;
  return JSON.stringify({ ...parsed, [member]: { ...parsed[member], ...values } });
}
