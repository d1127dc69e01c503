import { type Actor, ChatError, type LogEvent, type RequestMeta, userOperations } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';

export interface Authenticator {
  /**
   * The actor of a Basic header. Throws 401 codes, or SERVICE_UNAVAILABLE when the users service is away. A poll goes on
   * with what was known for a minute longer.
   */
  authenticate(header: string | undefined, meta: RequestMeta, isPoll: boolean): Promise<Actor>;
  /** The actor of a key that is shown without an address: where a browser opens a file. Not cached. */
  authenticateKey(key: string, meta: RequestMeta): Promise<Actor>;
  /** An event of a realm whose log is tailed: actors it changes are asked for anew. */
  follow(realmId: number, event: LogEvent): void;
  /** Entries of a realm's log were lost: all of its actors are asked for anew. */
  lost(realmId: number): void;
}

const maxEntries = 50_000;
const keepMs = 60_000;
const bridgeMs = 60_000;

/**
 * Caches actors of realms whose log this process follows and is known to have read lately (`isCurrent`); a write still names
 * the versions it rests on. Only right keys have entries, so that wrong keys evict none; the least recently used entry goes first.
 */
export function createAuthenticator(
  bus: Bus,
  isCurrent: (realmId: number, meta: RequestMeta) => boolean,
): Authenticator {
  const cache = new LRUCache<string, { actor: Actor; until: number }>({ max: maxEntries });
  /** Grows with every change, so that an answer which was under way meanwhile is not kept. */
  const changes = new Map<number, number>();
  const forget = (realmId: number, changed: readonly number[] | 'all'): void => {
    changes.set(realmId, (changes.get(realmId) ?? 0) + 1);
    for (const [key, { actor }] of cache)
      if (actor.realmId === realmId && (changed === 'all' || changed.includes(actor.userId))) cache.delete(key);
  };
  return {
    async authenticate(header, meta, isPoll) {
      const { email, key } = credentials(header);
      const cacheKey = `${meta.realmId}\n${email.toLowerCase()}\n${key}`;
      const cached = cache.get(cacheKey);
      const isTold = isCurrent(meta.realmId, meta);
      if (cached && isTold && cached.until > Date.now()) return cached.actor;
      const before = changes.get(meta.realmId) ?? 0;
      try {
        const actor = await bus.call(userOperations.authenticate, { email, api_key: key }, { meta });
        if (isTold && before === (changes.get(meta.realmId) ?? 0))
          cache.set(cacheKey, { actor, until: Date.now() + keepMs });
        return actor;
      } catch (error) {
        const isOutage = error instanceof ChatError && error.code === 'SERVICE_UNAVAILABLE';
        if (isOutage && isPoll && cached && cached.until + bridgeMs > Date.now()) return cached.actor;
        if (!isOutage) cache.delete(cacheKey);
        throw error;
      }
    },
    async authenticateKey(key, meta) {
      if (!isKey(key)) throw invalidKey();
      return bus.call(userOperations.authenticate, { email: undefined, api_key: key }, { meta });
    },
    follow(realmId, event) {
      const changed = usersChangedBy(event);
      if (changed !== undefined) forget(realmId, changed);
    },
    lost: (realmId) => forget(realmId, 'all'),
  };
}

/** Whose actor an event changes: role, credentials, or the groups they are in. */
function usersChangedBy({ type, op, body }: LogEvent): readonly number[] | 'all' | undefined {
  if (type === 'credentials_changed') return [Number(body.user_id)];
  if (type === 'realm_user' && op === 'update') return [(body.person as { user_id: number }).user_id];
  if (type === 'realm' && op === 'deactivated') return 'all';
  return type === 'user_group' ? usersOfGroupChange(op, body) : undefined;
}

function usersOfGroupChange(op: string | undefined, body: LogEvent['body']): readonly number[] | 'all' | undefined {
  if (op === 'add_members' || op === 'remove_members') return body.user_ids as number[];
  if (op === 'add') {
    const { members, direct_subgroup_ids } = body.group as { members: number[]; direct_subgroup_ids: number[] };
    return direct_subgroup_ids.length > 0 ? 'all' : members;
  }
  // Names and permissions of a group change nobody's own groups.
  return op === 'update' && (body.data as { deactivated?: boolean }).deactivated === undefined ? undefined : 'all';
}

function credentials(header: string | undefined): { email: string; key: string } {
  const [scheme, encoded] = (header ?? '').split(' ');
  if (scheme?.toLowerCase() !== 'basic' || !encoded)
    throw new ChatError('UNAUTHORIZED', 'Not logged in: API authentication or user session required');
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.lastIndexOf(':');
  const key = decoded.slice(colon + 1);
  if (colon < 1 || decoded.includes('\0') || !isKey(key)) throw invalidKey();
  return { email: decoded.slice(0, colon), key };
}

const isKey = (key: string): boolean => /^[A-Za-z0-9]{32}$/.test(key);
const invalidKey = (): ChatError => new ChatError('INVALID_API_KEY', 'Invalid API key');
