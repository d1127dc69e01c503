import { type Actor, badRequest, insufficientPermission, isGuest, perRequest } from '@natter/contracts';
import type { Directory, Person } from './directory/directory.ts';

/**
 * The users that a request names by id or email, unique and in order; the caller if it names none. Users that are not
 * accepted are answered like those that do not exist.
 */
export function resolvePrincipals(
  directory: Directory,
  principals: readonly number[] | readonly string[] | undefined,
  actor: Actor,
  isAccepted: (userId: number) => boolean,
): number[] {
  if (principals === undefined || principals.length === 0) return [actor.userId];
  const found = principals.map((principal: number | string) => {
    if (principal === actor.userId || principal === actor.email) return actor.userId;
    const person = typeof principal === 'number' ? directory.people.get(principal) : directory.personByEmail(principal);
    // Guests may name only themselves and their bots; the refusal does not reveal whether another user exists.
    if (isGuest(actor) && !isOwnBot(person, actor)) throw insufficientPermission();
    if (!person || !isAccepted(person.userId)) throw unknownPrincipal(principal);
    return person.userId;
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

const unknownPrincipal = (principal: number | string): Error =>
  badRequest(typeof principal === 'number' ? `Invalid user ID ${principal}` : `Invalid email '${principal}'`);

export const isOwnBot = (person: Person | undefined, actor: Actor): boolean =>
  person?.isBot === true && person.botOwnerId === actor.userId;

/** Limits the rows that one request writes; more users or channels take several requests. */
export function requireFewSubscriptions(channels: number, people: number): void {
  if (channels * people > perRequest.subscriptions)
    throw badRequest(`Too many subscriptions in one request (limit: ${perRequest.subscriptions})`);
}
