import { type Actor, badRequest } from '@natter/contracts';
import type { Person } from './people.ts';

/** The users a request is about, by id or by email; the caller when none are named. */
export function resolvePrincipals(
  people: readonly Person[],
  principals: number[] | string[] | undefined,
  actor: Actor,
): number[] {
  if (principals === undefined) return [actor.userId];
  const found = principals.map((principal) => {
    const person = people.find((candidate) =>
      typeof principal === 'number'
        ? candidate.user_id === principal
        : candidate.email.toLowerCase() === principal.toLowerCase(),
    );
    // The caller's own account is known to be there even before this service has heard of it.
    if (!person && (principal === actor.userId || principal === actor.email)) return actor.userId;
    if (!person?.is_active)
      throw badRequest(
        typeof principal === 'number' ? `Invalid user ID: ${principal}` : `Invalid email '${principal}'`,
      );
    return person.user_id;
  });
  return [...new Set(found)].sort((a, b) => a - b);
}
