import type { ServerResponse } from 'node:http';
import {
  type Actor,
  ChatError,
  isOutage,
  type LogEvent,
  type NamesOf,
  notLoggedIn,
  type RequestMeta,
  userOperations,
} from '@natter/contracts';
import { type Bus, createSharedCache, heapBytes, stringBytes, wideNetwork, withDeadline } from '@natter/service-kit';
import { createLookUps } from './look-ups.ts';

/** A request authenticates itself by the Basic header or by the session in its cookie. */
export type Credential = { header: string | undefined } | { session: string | undefined };

/** The request that shows a credential. */
export interface ShownBy {
  meta: RequestMeta;
  response: ServerResponse;
}

/** The kind of request that needs the actor; it decides how long a cached actor may be used. */
export type Purpose = 'poll' | 'server status' | 'other';

export interface Authenticator {
  /**
   * The actor of a credential. Throws 401 codes, or SERVICE_UNAVAILABLE while the users service is unavailable. A poll
   * may use the cached actor for a minute longer then. The server status uses it for ten minutes without a request to
   * users, because it shows such an outage to administrators. It renews the actor itself while users answers.
   */
  authenticate(credential: Credential, by: ShownBy, purpose: Purpose): Promise<Actor>;
  /** The actor of a credential as it is now, even if it is cached. */
  renew(credential: Credential, by: ShownBy): Promise<Actor>;
  /** The actor of a key without an address, as browsers send it when they open a file. Not cached. */
  authenticateKey(key: string, by: ShownBy): Promise<Actor>;
  /** Processes an event of a realm whose log is followed: the actors that it changes are no longer cached. */
  follow(realmId: number, event: LogEvent): void;
  /** Entries of a realm's log were lost: none of its actors are cached any more. */
  lost(realmId: number): void;
}

/** The users that an event changes. */
type Changed = readonly number[] | 'all';

const keepMs = 60_000;
const bridgeMs = 60_000;
/** How long a poll waits for users before it uses the cached actor. */
const bridgeAfterMs = 5_000;
const statusBridgeMs = 600_000;
/** Memory of an entry in the list of its user's keys. */
const inKeysOf = 250;

/** The logs that this process follows. */
export interface Following {
  /** Follows the realm's log for a while from now on. */
  follow(meta: RequestMeta): void;
  /** Whether this process has read the realm's log up to a moment ago. */
  isCurrent(realmId: number): boolean;
}

/**
 * Caches actors of realms whose log this process follows and has read recently; writes still state their expected
 * versions. Only valid keys have entries and begin to follow a log, so wrong keys evict none and cost no reads of logs.
 * The cache is bounded in bytes, because a user may be in thousands of groups, and realms share it fairly. A credential
 * without an entry may be a guess, so its look-up takes a turn; one with an entry, also one whose actor must be asked for
 * again, waits for none.
 */
export function createAuthenticator(bus: Bus, following: Following, maxBytes: number): Authenticator {
  /** The keys of a user's entries, because a change of a user must not look through all entries. */
  const keysOf = new Map<number, Set<string>>();
  const cache = createSharedCache<{ actor: Actor; until: number; bridgedUntil: number }>({
    maxBytes,
    sizeOf: (entry, key) => stringBytes(key) + heapBytes(entry) + inKeysOf,
    onDrop: ({ actor: { userId } }, key) => {
      const keys = keysOf.get(userId);
      if (keys?.delete(key) && keys.size === 0) keysOf.delete(userId);
    },
  });
  const lookUps = createLookUps();
  /** By realm: the look-ups in progress, each with the changes since it began. An answer may be older than these. */
  const inProgress = new Map<number, Set<Changed[]>>();
  const forget = (realmId: number, changed: Changed): void => {
    for (const since of inProgress.get(realmId) ?? []) since.push(changed);
    if (changed === 'all') cache.clear(realmId);
    else for (const id of changed) for (const key of [...(keysOf.get(id) ?? [])]) cache.delete(realmId, key);
  };

  const inTurn = <R>({ meta, response }: ShownBy, work: () => Promise<R>): Promise<R> =>
    lookUps.run(wideNetwork(meta.network ?? ''), response, work);

  async function lookUp({ cacheKey, ask }: LookUp, by: ShownBy): Promise<Actor> {
    const { realmId } = by.meta;
    const isTold = following.isCurrent(realmId);
    const asked = performance.now();
    const since: Changed[] = [];
    const others = inProgress.get(realmId) ?? new Set();
    inProgress.set(realmId, others.add(since));
    try {
      const { actor, validMs } = await (cache.get(realmId, cacheKey) ? ask() : inTurn(by, ask));
      following.follow(by.meta);
      const hasChanged = since.some((changed) => changed === 'all' || changed.includes(actor.userId));
      cache.delete(realmId, cacheKey);
      keysOf.set(actor.userId, (keysOf.get(actor.userId) ?? new Set()).add(cacheKey));
      cache.set(realmId, cacheKey, {
        actor,
        until: isTold && !hasChanged ? performance.now() + Math.min(keepMs, validMs) : Number.NEGATIVE_INFINITY,
        bridgedUntil: hasChanged ? Number.NEGATIVE_INFINITY : asked + Math.min(statusBridgeMs, validMs),
      });
      return actor;
    } catch (error) {
      if (!isOutage(error)) cache.delete(realmId, cacheKey);
      throw error;
    } finally {
      others.delete(since);
      if (others.size === 0) inProgress.delete(realmId);
    }
  }

  return {
    async authenticate(credential, by, purpose) {
      const { meta } = by;
      const asked = lookUpOf(bus, credential, meta);
      const cached = cache.get(meta.realmId, asked.cacheKey);
      if (cached && cached.until > performance.now() && following.isCurrent(meta.realmId)) {
        following.follow(meta);
        return cached.actor;
      }
      if (cached && purpose === 'server status' && cached.bridgedUntil > performance.now()) return cached.actor;
      const bridge = purpose === 'poll' && cached && cached.until + bridgeMs > performance.now() ? cached : undefined;
      if (!bridge) return lookUp(asked, by);
      try {
        return await withDeadline(bridgeAfterMs, () => lookUp(asked, by));
      } catch (error) {
        if (isOutage(error)) return bridge.actor;
        throw error;
      }
    },
    renew: async (credential, by) => lookUp(lookUpOf(bus, credential, by.meta), by),
    async authenticateKey(key, by) {
      if (!isKey(key)) throw invalidKey();
      const { meta } = by;
      return inTurn(by, () => bus.call(userOperations.authenticate, { email: undefined, api_key: key }, { meta }));
    },
    follow(realmId, event) {
      const changed = usersChangedBy(event);
      if (changed !== undefined) forget(realmId, changed);
    },
    lost: (realmId) => forget(realmId, 'all'),
  };
}

interface LookUp {
  cacheKey: string;
  /** `validMs` is the time that the credential lasts at least. */
  ask(): Promise<{ actor: Actor; validMs: number }>;
}

function lookUpOf(bus: Bus, credential: Credential, meta: RequestMeta): LookUp {
  if ('session' in credential) {
    const { session } = credential;
    if (session === undefined) throw notLoggedIn();
    return {
      cacheKey: `${meta.realmId}\nsession\n${session}`,
      ask: async () => {
        const asked = bus.call(userOperations.authenticateSession, { session }, { meta });
        const answer = await asked.catch((error: unknown) => Promise.reject(asSessionError(error)));
        return { actor: answer.actor, validMs: answer.seconds_left * 1_000 };
      },
    };
  }
  const { email, key } = credentials(credential.header);
  return {
    cacheKey: `${meta.realmId}\n${email.toLowerCase()}\n${key}`,
    ask: async () => {
      const actor = await bus.call(userOperations.authenticate, { email, api_key: key }, { meta });
      return { actor, validMs: Number.POSITIVE_INFINITY };
    },
  };
}

/** An error of a request that showed a session: a session that ended between two checks is no wrong key. */
export const asSessionError = (error: unknown): unknown =>
  error instanceof ChatError && error.code === 'INVALID_API_KEY' ? notLoggedIn() : error;

/** The users whose actor an event changes: role, credentials, or group membership. */
function usersChangedBy(event: LogEvent): readonly number[] | 'all' | undefined {
  if (event.type === 'credentials_changed') return [event.body.user_id];
  if (event.type === 'realm_user' && event.op === 'update') return [event.body.person.user_id];
  if (event.type === 'realm' && event.op === 'deactivated') return 'all';
  return event.type === 'user_group' ? usersOfGroupChange(event) : undefined;
}

function usersOfGroupChange(event: LogEvent<NamesOf<'user_group'>>): readonly number[] | 'all' | undefined {
  if (event.op === 'add_members' || event.op === 'remove_members') return event.body.user_ids;
  if (event.op === 'add') {
    const { members, direct_subgroup_ids } = event.body.group;
    return direct_subgroup_ids.length > 0 ? 'all' : members;
  }
  // Changes of a group's name and permissions affect no user's membership.
  return event.op === 'update' && event.body.data.deactivated === undefined ? undefined : 'all';
}

function credentials(header: string | undefined): { email: string; key: string } {
  const [scheme, encoded] = (header ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic' || !encoded) throw notLoggedIn();
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.lastIndexOf(':');
  const key = decoded.slice(colon + 1);
  if (colon < 1 || decoded.includes('\0') || !isKey(key)) throw invalidKey();
  return { email: decoded.slice(0, colon), key };
}

const isKey = (key: string): boolean => /^[A-Za-z0-9]{32}$/.test(key);
const invalidKey = (): ChatError => new ChatError('INVALID_API_KEY', 'Invalid API key');
