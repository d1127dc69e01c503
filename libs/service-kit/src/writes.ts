import type { Actor, Operation } from '@natter/contracts';
import { type Answered, type Claim, type Commit, type UnitOfWork, VersionsChanged, type Work } from '@natter/database';

/** Expected versions by name. */
type Versions = Record<string, number>;

interface WriteOptions {
  /**
   * The unit bumps versions that others of its kind bump too: it waits for its gate at the beginning instead of losing
   * at the commit.
   */
  isQueued?: boolean;
  /** Expected versions that are read inside the unit, instead of those of the request's actor. */
  expected?: (work: Work) => Promise<Versions>;
  /**
   * Whether this unit is one of several units of a long write, and not the last. It stays committed if a later unit fails.
   * The last unit stores the answer and claims the key.
   */
  isPart?: boolean;
}

/** The tools of a write. A handler has no other way to open a unit for its request. */
export interface Writing {
  /**
   * Runs `decide` in the unit of work of the request. The versions of the actor are expected at the commit, and the key
   * is claimed, so that the result is stored as the answer and a repeated request changes nothing. The handler must
   * return the result.
   */
  write<R>(decide: (work: Work) => Promise<R>, options?: WriteOptions): Promise<R>;
  /** Like `write`, but batched with other requests of the realm, for a change that was decided before. */
  commit<N extends string, R extends object>(decided: Omit<Answered<N, R>, 'claim'>): Promise<R & Record<N, number>>;
  /** The client's key and the fingerprint of the request, if the client sent a key. */
  named: Pick<Claim, 'key' | 'fingerprint'> | undefined;
}

/** The dependencies with which units of work are opened. */
export interface Units {
  schema: string;
  unitOfWork: UnitOfWork;
  commit: Commit;
}

interface Request {
  realmId: number;
  operation?: Operation;
  actor: Actor | undefined;
  claim: Claim | undefined;
}

export function writingOf(units: Units | undefined, { realmId, operation, actor, claim }: Request): Writing {
  const opened = (): Units => {
    if (!units) throw new Error('this process has no tables');
    return units;
  };
  const versions: Versions = actor?.basis ?? {};
  return {
    write(decide, { isQueued = false, expected, isPart = false } = {}) {
      const { schema, unitOfWork } = opened();
      return unitOfWork({ realmId, schema, claim: isPart ? undefined : claim, isQueued, operation }, async (work) => {
        work.expectVersions(expected ? await expected(work) : versions);
        return decide(work);
      });
    },
    async commit(decided) {
      return opened().commit(realmId, { ...decided, expected: joined(decided.expected, versions), claim });
    },
    named: claim?.namedBy === 'key' ? claim : undefined,
  };
}

/**
 * Merges expected versions. A conflict means that a decision used other versions than the actor's and must be repeated.
 */
function joined(one: Versions, other: Versions): Versions {
  const changed = Object.entries(other).find(([name, version]) => (one[name] ?? version) !== version);
  if (changed) throw new VersionsChanged(changed[0]);
  return { ...one, ...other };
}
