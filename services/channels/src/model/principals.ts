import { type Actor, badRequest, insufficientPermission, isGuest, perRequest } from '@natter/contracts';
import type { UserContext } from '@natter/service-kit';
import type { Service } from './deciding.ts';
import type { Directory, Person } from './directory/directory.ts';

type Principals = readonly number[] | readonly string[] | undefined;

/** The active users whom a request subscribes. Bots of the server are answered like unknown users. */
export const principalsToAdd = (directory: Directory, principals: Principals, actor: Actor): number[] =>
  resolved(directory, principals, actor, (person) => {
    // Guests may name only themselves and their bots; the refusal does not reveal whether another user exists.
    if (isGuest(actor) && !isOwnBot(person, actor)) throw insufficientPermission();
    return person !== undefined && directory.isNameable(person.userId);
  });

/** The users whom a request unsubscribes. Those in `unknown` are answered like users who do not exist. */
export const principalsToRemove = (
  directory: Directory,
  principals: Principals,
  actor: Actor,
  unknown: ReadonlySet<number>,
): number[] =>
  resolved(
    directory,
    principals,
    actor,
    (person) => person !== undefined && (isOwnBot(person, actor) || !unknown.has(person.userId)),
  );

/** The users that a request names by id or email, unique and in order; the caller if it names none. */
function resolved(
  directory: Directory,
  principals: Principals,
  actor: Actor,
  isKnown: (person: Person | undefined) => boolean,
): number[] {
  if (principals === undefined || principals.length === 0) return [actor.userId];
  const found = principals.map((principal: number | string) => {
    if (principal === actor.userId || principal === actor.email) return actor.userId;
    const person = typeof principal === 'number' ? directory.people.get(principal) : directory.personByEmail(principal);
    if (!isKnown(person) || !person) throw unknownPrincipal(principal);
    return person.userId;
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Decides with the users whom the caller may not see. Must not be called in a unit of work: it may ask another service. */
export const decideSeeing = async <R>(
  { policies, userVisibility }: Pick<Service, 'policies' | 'userVisibility'>,
  { actor, meta }: Pick<UserContext, 'actor' | 'meta'>,
  decide: (hidden: ReadonlySet<number>) => Promise<R>,
): Promise<R> =>
  isGuest(actor) ? userVisibility.decideFor(actor, meta, await policies.get(meta, true), decide) : decide(new Set());

const unknownPrincipal = (principal: number | string): Error =>
  badRequest(typeof principal === 'number' ? `Invalid user ID ${principal}` : `Invalid email '${principal}'`);

export const isOwnBot = (person: Person | undefined, actor: Actor): boolean =>
  person?.isBot === true && person.botOwnerId === actor.userId;

/** Limits the rows that one request writes; more users or channels take several requests. */
export function requireFewSubscriptions(channels: number, people: number): void {
  if (channels * people > perRequest.subscriptions)
    throw badRequest(`Too many subscriptions in one request (limit: ${perRequest.subscriptions})`);
}
