import { ChatError, defaultRealmUrl, type RequestMeta, userOperations } from '@natter/contracts';
import { type Bus, createLocalCounts } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import { type Rate, rateLimitHit } from '../rate-limit/rate-limit.ts';

const freshMs = 2_000;
const usableMs = 60_000;
const maxEntries = 10_000;
/** Calls to users per second and gateway for hosts that no realm has. */
const maxUnknownPerSecond = 50;

export interface FoundRealm {
  realmId: number;
  /** The configured origin, only for services of the previous release, which read it from the request. */
  realmUrl: string;
}

interface Entry {
  /** The default realm for a host that no realm has, or the error if there is no default realm. */
  result: FoundRealm | ChatError;
  at: number;
}

/**
 * Finds the realm of a host. Results are refreshed after two seconds, so that new and renamed realms are noticed, and
 * those of realms are kept during an outage. Hosts that no realm has cannot be told from new ones without a call to
 * users, whether or not there is a default realm. So their calls are limited by network and per second, and they evict
 * no hosts of realms. Above the limit per second their results are refreshed after a minute.
 */
export function createRealmFinder(
  bus: Bus,
  missRate: Rate,
  now: () => number = Date.now,
): (host: string, meta: RequestMeta) => Promise<FoundRealm> {
  const misses = createLocalCounts();
  let second = { number: 0, unknown: 0 };
  const known = new LRUCache<string, Entry>({ max: maxEntries });
  const unknown = new LRUCache<string, Entry>({ max: maxEntries });
  const asking = new Map<string, Promise<FoundRealm>>();

  async function ask(host: string, meta: RequestMeta): Promise<FoundRealm> {
    try {
      const answer = await bus.call(userOperations.findRealm, { host }, { meta });
      const { realm_id: realmId, realm_url } = answer;
      const found = { realmId, realmUrl: realm_url ?? (await urlByPolicy({ ...meta, realmId })) };
      if (answer.host === undefined || answer.host === host) {
        unknown.delete(host);
        known.set(host, { result: found, at: now() });
      } else miss(host, found, meta);
      return found;
    } catch (error) {
      const last = known.get(host) ?? unknown.get(host);
      const isOutage = error instanceof ChatError && error.code === 'SERVICE_UNAVAILABLE';
      if (isOutage && last && now() - last.at < usableMs) return realmOf(last);
      if (error instanceof ChatError && error.code === 'NONEXISTENT_SUBDOMAIN') miss(host, error, meta);
      throw error;
    }
  }

  function miss(host: string, result: FoundRealm | ChatError, meta: RequestMeta): void {
    thisSecond().unknown++;
    if (!unknown.has(host)) misses.add(meta.network ?? '', 1, missRate.windowSeconds);
    known.delete(host);
    unknown.set(host, { result, at: now() });
  }

  /** A users service of the previous release returns no URL. */
  async function urlByPolicy(meta: RequestMeta): Promise<string> {
    const policy = await bus.call(userOperations.getRealmPolicy, {}, { meta });
    return defaultRealmUrl(policy.host);
  }

  function thisSecond(): { unknown: number } {
    const number = Math.floor(now() / 1_000);
    if (second.number !== number) second = { number, unknown: 0 };
    return second;
  }

  const refused = (secondsLeft: number): ChatError =>
    rateLimitHit({ ...missRate, remaining: 0, reset: Date.now() / 1_000 + secondsLeft, isOver: true });

  return async (host, meta) => {
    const last = known.get(host) ?? unknown.get(host);
    const isFlooded = thisSecond().unknown >= maxUnknownPerSecond && !known.has(host);
    if (last && now() - last.at < (isFlooded ? usableMs : freshMs)) return realmOf(last);
    const network = meta.network ?? '';
    if (!last && misses.get(network) >= missRate.limit) throw refused(misses.left(network));
    if (!last && isFlooded) throw refused(1);
    const running = asking.get(host) ?? ask(host, meta).finally(() => asking.delete(host));
    asking.set(host, running);
    return running;
  };
}

function realmOf({ result }: Entry): FoundRealm {
  if (result instanceof ChatError) throw result;
  return result;
}
