import type { Actor, RealmPolicy, RequestMeta } from '@natter/contracts';
import { isAdministrator, isRefusal, type RealmPermission, realmPermissions } from '@natter/contracts';
import { type Database, type Executor, readVersions, sqlState, VersionsChanged, type Work } from '@natter/database';
import { isPermitted } from '@natter/permissions';
import { type RealmPolicies, realmVersions, type UserVisibility } from '@natter/realm-policy';
import type { Bus, Owner, UserContext, WriteContext, Writing } from '@natter/service-kit';
import type { Directory } from './directory/directory.ts';
import { type DirectoryCache, holdDirectory } from './directory/read-directory.ts';
import type { NoteSeen } from './seen.ts';

/** The tools of every operation of this service. */
export interface Service {
  owner: Owner;
  directories: DirectoryCache;
  policies: RealmPolicies;
  userVisibility: UserVisibility;
  bus: Bus;
  noteSeen: NoteSeen;
  /** Whether this server permits web-public channels. */
  webPublicStreamsEnabled: boolean;
}

/**
 * The data for deciding a change. The actor's role and groups decide; the directory determines the effects on others.
 */
export interface Decision {
  service: Service;
  work: Work;
  actor: Actor;
  meta: RequestMeta;
  policy: RealmPolicy;
  directory: Directory;
}

/**
 * Runs a change in one unit of work. It expects the versions of the actor and the realm. A refusal is valid only if
 * these versions are still current; otherwise the change is decided again with current data.
 */
export async function deciding<R>(
  service: Service,
  context: Pick<WriteContext, 'actor' | 'meta' | 'attempt'> & Pick<Writing, 'write'>,
  decide: (decision: Decision) => Promise<R>,
): Promise<R> {
  const { actor, meta } = context;
  service.noteSeen(actor.realmId, actor.userId);
  const policy = await service.policies.get(meta, context.attempt > 0);
  const expected = { ...actor.basis, ...realmVersions(policy) };
  return context.write(async (work) => {
    work.expectVersions(expected);
    await holdDirectory(work, 'shared');
    const directory = await service.directories.read(work, actor.realmId);
    return refusingOn({ executor: work, realmId: actor.realmId, expected }, () =>
      decide({ service, work, actor, meta, policy, directory }),
    );
  });
}

/** Answers a read; a refusal is valid only if the actor's versions are still current. */
export function reading<R>(
  { owner, noteSeen }: Service,
  { actor }: UserContext,
  read: (database: Database) => Promise<R>,
): Promise<R> {
  noteSeen(actor.realmId, actor.userId);
  const { database } = owner;
  return refusingOn({ executor: database, realmId: actor.realmId, expected: actor.basis }, () => read(database));
}

/**
 * Refuses early, before expensive reads outside the unit. The unit decides again, so a check that passes proves nothing.
 */
export async function refuseEarly(
  { owner: { database }, policies }: Service,
  { actor, meta, attempt }: Pick<WriteContext, 'actor' | 'meta' | 'attempt'>,
  check: (database: Database, policy: RealmPolicy) => Promise<void>,
): Promise<void> {
  const policy = await policies.get(meta, attempt > 0);
  const expected = { ...actor.basis, ...realmVersions(policy) };
  await refusingOn({ executor: database, realmId: actor.realmId, expected }, () => check(database, policy));
}

interface Refusing {
  executor: Executor;
  realmId: number;
  expected: Record<string, number>;
}

async function refusingOn<R>(refusing: Refusing, decide: () => Promise<R>): Promise<R> {
  try {
    return await decide();
  } catch (error) {
    if (isRefusal(error))
      await mustHold(refusing).catch((failure: unknown) => {
        // A unique violation aborted the transaction. That refusal depends on the table alone, so versions are not
        // compared.
        if (sqlState(failure) !== '25P02') throw failure;
      });
    throw error;
  }
}

async function mustHold({ executor, realmId, expected }: Refusing): Promise<void> {
  const current = await readVersions(executor, realmId, Object.keys(expected));
  const changed = Object.keys(expected).find((key) => expected[key] !== current[key]);
  if (changed !== undefined) throw new VersionsChanged(changed);
}

/** Administrators may always set who deletes messages in a channel and its topics policy. */
export const maySetPolicy = (
  decision: Pick<Decision, 'policy' | 'actor'>,
  name: 'can_set_delete_message_policy_group' | 'can_set_topics_policy_group',
): boolean => isAdministrator(decision.actor) || hasRealmPermission(decision, name);

export const hasRealmPermission = ({ policy, actor }: Pick<Decision, 'policy' | 'actor'>, name: RealmPermission) =>
  isPermitted(realmPermissions[name], policy.permissions[name], actor);
