import { type Actor, badRequest, insufficientPermission, isGuest, perRequest } from '@natter/contracts';
import { readVersions, VersionsChanged, type Work } from '@natter/database';
import type { UserContext } from '@natter/service-kit';
import type { Decision, Service } from './deciding.ts';
import { areOwnersBehind } from './directory/behind.ts';
import type { Person } from './directory/directory.ts';

type Principals = readonly number[] | readonly string[] | undefined;

/** The active users whom a request subscribes. Bots of the server are answered like unknown users. */
export const principalsToAdd = (decision: Decision, principals: Principals): Promise<number[]> =>
  resolved(decision, principals, (person) => {
    const { actor, directory } = decision;
    // Guests may name only themselves and their bots; the refusal does not reveal whether another user exists.
    if (isGuest(actor) && !isOwnBot(person, actor)) throw insufficientPermission();
    return person !== undefined && directory.isNameable(person.userId);
  });

/** The users whom a request unsubscribes. For users in `unknown`, the answer is the same as for missing users. */
export const principalsToRemove = (
  decision: Decision,
  principals: Principals,
  unknown: ReadonlySet<number>,
): Promise<number[]> =>
  resolved(
    decision,
    principals,
    (person) => person !== undefined && (isOwnBot(person, decision.actor) || !unknown.has(person.userId)),
  );

/** The users that a request names by id or email, unique and in order; the caller if it names none. */
async function resolved(
  { work, directory, actor }: Decision,
  principals: Principals,
  isKnown: (person: Person | undefined) => boolean,
): Promise<number[]> {
  if (principals === undefined || principals.length === 0) return [actor.userId];
  const found = principals.map((principal: number | string) => {
    if (principal === actor.userId || principal === actor.email) return actor.userId;
    const person = typeof principal === 'number' ? directory.people.get(principal) : directory.personByEmail(principal);
    if (!isKnown(person) || !person) throw unknownPrincipal(principal);
    return person.userId;
  });
  const ids = [...new Set(found)].sort((a, b) => a - b);
  await expectOwners(
    work,
    ids.filter((id) => isOwnBot(directory.people.get(id), actor)),
  );
  return ids;
}

/**
 * Owners may do more with their bots than others. The directory may lack that a bot was given away, so it must be as new as the
 * versions that the commit compares.
 */
async function expectOwners(work: Work, botIds: readonly number[]): Promise<void> {
  const [first] = botIds;
  if (first === undefined) return;
  const versions = await readVersions(
    work,
    work.realmId,
    botIds.map((id) => `actor:${id}`),
  );
  if (await areOwnersBehind(work, work.realmId, botIds)) throw new VersionsChanged(`actor:${first}`);
  work.expectVersions(versions);
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
