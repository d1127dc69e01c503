import { badRequest, type LogEvent, type RealmPolicy } from '@natter/contracts';
import { limitsGuests } from '@natter/service-kit';
import type { Person } from './people.ts';

/**
 * Announces users who begin a direct conversation, to the users service only, in realms where guests see only users
 * they know.
 */
export function acquainted(policy: RealmPolicy, people: readonly Person[], isNew: boolean): LogEvent[] {
  if (!isNew || people.length < 2 || !limitsGuests(policy)) return [];
  const note = { user_ids: people.map((person) => person.user_id) };
  return [{ type: 'acquainted', body: {}, audience: { users: { ids: [] } }, note }];
}

/** An invisible user is answered like one who does not exist. */
export function requireKnown(people: readonly Person[], hidden: ReadonlySet<number>, to: unknown): void {
  const stranger = people.find((person) => hidden.has(person.user_id));
  if (!stranger) return;
  const isNamedById = [to].flat().includes(stranger.user_id);
  throw badRequest(isNamedById ? `Invalid user ID ${stranger.user_id}` : `Invalid email '${stranger.email}'`);
}
