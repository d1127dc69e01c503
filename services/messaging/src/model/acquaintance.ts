import type { LogEvent, RealmPolicy } from '@natter/contracts';
import { limitsGuests } from '@natter/realm-policy';
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
