import type { Actor, RealmPolicy, RequestMeta } from '@natter/contracts';
import { ChatError, type RealmPermission, realmPermissions } from '@natter/contracts';
import { BasisChanged, type Database, type Executor, sql, sqlState, type Work } from '@natter/database';
import { isPermitted } from '@natter/permissions';
import {
  type Bus,
  type Owner,
  type RealmPolicies,
  realmBasis,
  type Sight,
  type UserContext,
} from '@natter/service-kit';
import { z } from 'zod';
import type { NoteSeen } from './activity/seen.ts';
import { isBehind } from './directory/behind.ts';
import type { Directory } from './directory/directory.ts';
import { type DirectoryCache, holdDirectory } from './directory/read-directory.ts';

/** What every operation of this service works with. */
export interface Service {
  owner: Owner;
  directories: DirectoryCache;
  policies: RealmPolicies;
  sight: Sight;
  bus: Bus;
  noteSeen: NoteSeen;
  /** Whether this server allows web-public channels at all. */
  webPublicStreamsEnabled: boolean;
}

/** What a change is decided with. The actor's own role and groups decide; the directory says what follows for others. */
export interface Decision {
  service: Service;
  work: Work;
  actor: Actor;
  meta: RequestMeta;
  policy: RealmPolicy;
  directory: Directory;
}

/**
 * Runs a change in one unit of work. It commits on the versions of the actor and the realm, and a refusal stands only if
 * they still hold when it is made: otherwise it is decided anew with what is true now.
 */
export async function deciding<R>(
  service: Service,
  context: UserContext,
  decide: (decision: Decision) => Promise<R>,
): Promise<R> {
  const { actor, meta } = context;
  service.noteSeen(actor.realmId, actor.userId);
  const policy = await service.policies.get(meta, context.attempt > 0);
  const basis = { ...actor.basis, ...realmBasis(policy) };
  const options = {
    realmId: actor.realmId,
    schema: 'channels',
    claim: context.claim,
  };
  return service.owner.unitOfWork(options, async (work) => {
    work.restOn(basis);
    await holdDirectory(work, 'shared');
    const directory = await service.directories.read(work, actor.realmId);
    return refusingOn({ executor: work, realmId: actor.realmId, basis, hasCaughtUp: context.hasCaughtUp }, () =>
      decide({ service, work, actor, meta, policy, directory }),
    );
  });
}

/** Answers a question; a refusal stands only if the actor is still who asked. */
export function reading<R>(
  { owner, noteSeen }: Service,
  { actor, hasCaughtUp }: UserContext,
  read: (database: Database) => Promise<R>,
): Promise<R> {
  noteSeen(actor.realmId, actor.userId);
  const { database } = owner;
  return refusingOn({ executor: database, realmId: actor.realmId, basis: actor.basis, hasCaughtUp }, () =>
    read(database),
  );
}

interface Refusing {
  executor: Executor;
  realmId: number;
  basis: Record<string, number>;
  hasCaughtUp: boolean;
}

async function refusingOn<R>(refusing: Refusing, decide: () => Promise<R>): Promise<R> {
  try {
    return await decide();
  } catch (error) {
    if (error instanceof ChatError && error.status < 500)
      await mustHold(refusing).catch((failure: unknown) => {
        // A name that is taken ended the transaction: that refusal is the table's, and no version of the actor changes it.
        if (sqlState(failure) !== '25P02') throw failure;
      });
    throw error;
  }
}

async function mustHold({ executor, realmId, basis, hasCaughtUp }: Refusing): Promise<void> {
  const rows = await executor.any(sql.type(z.object({ key: z.string(), version: z.number() }))`
    SELECT key, version FROM log.versions(${realmId}, ${sql.array(Object.keys(basis), 'text')})`);
  const changed = rows.find(({ key, version }) => basis[key] !== version);
  if (changed) throw new BasisChanged(changed.key);
  // Whoever seems not to be there may only be too new for the copy.
  if (!hasCaughtUp && (await isBehind(executor, realmId, ['realm_user', 'user_group'])))
    throw new BasisChanged('people', 'row');
}

export const hasRealmPermission = ({ policy, actor }: Pick<Decision, 'policy' | 'actor'>, name: RealmPermission) =>
  isPermitted(realmPermissions[name], policy.permissions[name], actor);
