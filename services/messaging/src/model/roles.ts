import { type Actor, type LogEvent, roles } from '@natter/contracts';
import {
  appliedNumber,
  type Database,
  type Executor,
  type Fragment,
  readVersions,
  sql,
  VersionsChanged,
  type Work,
} from '@natter/database';
import { z } from 'zod';
import { actorKey, expectRoles } from './group-versions.ts';
import { announceMutes } from './user-topics.ts';
import { isWaiting, type WaitingEvent } from './waiting-events.ts';

/**
 * Adds a user to the projections of roles, of owners of bots and of system bots. A trigger notes the first owner of a bot
 * as `created_by`.
 */
export async function addRole(work: Work, { body: { person } }: LogEvent<'realm_user/add'>): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO messaging.standing (realm_id, user_id, role, bot_owner_id)
    VALUES (${work.realmId}, ${person.user_id}, ${person.role}, ${person.bot_owner_id ?? null}) ON CONFLICT DO NOTHING`);
  if (person.is_system_bot)
    await work.run(sql.unsafe`
      INSERT INTO messaging.system_bot (realm_id, user_id, name) VALUES (${work.realmId}, ${person.user_id}, ${person.full_name}) ON CONFLICT DO NOTHING`);
}

const changedRow = z.object({ is_other_reader: z.boolean() });

/** Guests read fewer channels than members, so the list of mutes changes with them. */
export async function updateRole(work: Work, { body: { person } }: LogEvent<'realm_user/update'>): Promise<void> {
  const { role, bot_owner_id } = person;
  if (role === undefined && bot_owner_id === undefined) return;
  const changed = await work.maybeOne(sql.type(changedRow)`
    UPDATE messaging.standing s SET role = coalesce(${role ?? null}::int, s.role),
      bot_owner_id = coalesce(${bot_owner_id ?? null}::int, s.bot_owner_id)
    FROM (SELECT role FROM messaging.standing WHERE realm_id = ${work.realmId} AND user_id = ${person.user_id} FOR UPDATE) before
    WHERE s.realm_id = ${work.realmId} AND s.user_id = ${person.user_id}
    RETURNING (before.role = ${roles.guest}) <> (s.role = ${roles.guest}) AS is_other_reader`);
  if (changed?.is_other_reader) announceMutes(work, [person.user_id]);
}

const idRow = z.object({ user_id: z.number() });

export async function guestsAmong(
  executor: Executor,
  realmId: number,
  userIds: readonly number[],
): Promise<Set<number>> {
  const rows = await executor.any(sql.type(idRow)`
    SELECT user_id FROM messaging.standing
    WHERE realm_id = ${realmId} AND role = ${roles.guest} AND user_id = ANY(${sql.array([...userIds], 'int4')})`);
  return new Set(rows.map((row) => row.user_id));
}

/** The consumer that maintains the projection of roles. */
const consumer = 'notices';

/** The number of the last event in the projection of roles. */
export const rolesApplied = (realmId: number): Fragment => appliedNumber('messaging', realmId, consumer);

/**
 * Throws `VersionsChanged` if an event that sets the role of one of these users is not in the projection, and expects that they
 * keep their roles until the commit. If the decision has read the projection already, `applied` is the number of the last event
 * in it.
 */
export async function requireRoles(work: Work, userIds: readonly number[], applied?: number): Promise<void> {
  // Before the log is read: a later event changes a version.
  await expectRoles(work, userIds);
  await requireApplied(work, work.realmId, userIds, applied);
}

async function requireApplied(executor: Executor, realmId: number, userIds: readonly number[], applied?: number) {
  const ids = new Set(userIds);
  const isChanged = ({ person, role }: WaitingEvent): boolean => role !== null && person !== null && ids.has(person);
  const matters = { 'realm_user/add': isChanged, 'realm_user/update': isChanged };
  if (await isWaiting(executor, realmId, { consumer, types: ['realm_user'], matters, applied }))
    throw new VersionsChanged('roles of users', 'row');
}

const guestsRow = z.object({ applied: z.number(), guests: z.array(z.number()) });

/**
 * The guests among these users with the expected versions of their roles, for a decision before the unit. Throws
 * `VersionsChanged` like `requireRoles`.
 */
export async function expectedGuests(
  database: Database,
  realmId: number,
  userIds: readonly number[],
): Promise<{ guests: readonly number[]; expected: Record<string, number> }> {
  const expected = await readVersions(database, realmId, userIds.map(actorKey));
  const { applied, guests } = await database.one(sql.type(guestsRow)`
    SELECT ${rolesApplied(realmId)} AS applied, ARRAY(SELECT user_id FROM messaging.standing
      WHERE realm_id = ${realmId} AND role = ${roles.guest} AND user_id = ANY(${sql.array([...userIds], 'int4')})) AS guests`);
  await requireApplied(database, realmId, userIds, applied);
  return { guests, expected };
}

const ownerRow = z.object({ applied: z.number(), is_own: z.boolean() });

/**
 * Whether the actor owns a bot, and the expected version of that answer, for a decision before the unit. Throws
 * `VersionsChanged` if an event about the bot is not in the projection.
 */
export async function ownership(
  database: Database,
  { realmId, userId }: Actor,
  botId: number,
): Promise<{ isOwn: boolean; expected: Record<string, number> }> {
  const expected = await readVersions(database, realmId, [actorKey(botId)]);
  const { applied, is_own } = await database.one(sql.type(ownerRow)`
    SELECT ${rolesApplied(realmId)} AS applied, EXISTS (SELECT FROM messaging.standing
      WHERE realm_id = ${realmId} AND user_id = ${botId} AND bot_owner_id = ${userId}) AS is_own`);
  const isOfBot = ({ person }: WaitingEvent): boolean => person === botId;
  const matters = { 'realm_user/add': isOfBot, 'realm_user/update': isOfBot };
  if (await isWaiting(database, realmId, { consumer, types: ['realm_user'], matters, applied }))
    throw new VersionsChanged('the owner of a bot', 'row');
  return { isOwn: is_own, expected };
}
