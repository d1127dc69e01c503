import { type Database, readVersions, type Work } from '@natter/database';
import { requireConsumers, waitForConsumers } from './wait-for-consumers.ts';

/** The consumers that maintain this service's projections of groups and roles, and their event types. */
const consumers = [
  { name: 'sending-copies', type: 'user_group' },
  { name: 'people', type: 'realm_user' },
  { name: 'notices', type: 'realm_user' },
];

/**
 * The expected versions of decisions that use this service's projections of groups and roles, read before the
 * projections are brought up to date. `userIds`: users whose own rights are used, besides the actor.
 */
export async function groupVersions(
  database: Database,
  realmId: number,
  userIds: readonly number[] = [],
): Promise<Record<string, number>> {
  const versions = await readVersions(database, realmId, [...groupKeys, ...userIds.map(actorKey)]);
  await waitForPeopleAndGroups(database, realmId);
  return versions;
}

const groupKeys = ['groups', 'group-contents'];
export const actorKey = (userId: number): string => `actor:${userId}`;

/** Like `groupVersions`, for a decision within the unit. Throws `VersionsChanged` if the projections are not up to date. */
export async function expectGroups(work: Work): Promise<void> {
  work.expectVersions(await readVersions(work, work.realmId, groupKeys));
  await requireConsumers(work, consumers, 'group-contents');
}

/** If a decision uses the roles of more users, it expects the one version that changes with each role and membership. */
const mostCompared = 100;

/** Expects that these users keep their roles until the commit. Call it before the roles are read for the last time. */
export async function expectRoles(work: Work, userIds: readonly number[]): Promise<void> {
  const keys = userIds.length > mostCompared ? ['group-contents'] : userIds.map(actorKey);
  work.expectVersions(await readVersions(work, work.realmId, keys));
}

/** Waits until the projections on which sends are refused contain what was committed before the call. */
export const waitForPeopleAndGroups = (database: Database, realmId: number): Promise<void> =>
  waitForConsumers(database, realmId, consumers);
