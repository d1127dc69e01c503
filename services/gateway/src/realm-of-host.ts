import { ChatError, defaultRealmUrl, type RequestMeta, userOperations } from '@natter/contracts';
import { type Bus, createLocalCounts } from '@natter/service-kit';
import { type Rate, rateLimitHit } from './rate-limit.ts';

const freshMs = 2_000;
const usableMs = 60_000;
const maxEntries = 10_000;

export interface FoundRealm {
  realmId: number;
  /** For services of the previous release alone, which read it from the request: the configured origin. */
  realmUrl: string;
}

/**
 * Which realm a host belongs to. Asked again after two seconds, so that new and renamed realms are noticed; an outage is bridged.
 * A network that asked for too many hosts without a realm is refused further unknown hosts: each costs a call to users.
 */
export function createRealmFinder(bus: Bus, missRate: Rate): (host: string, meta: RequestMeta) => Promise<FoundRealm> {
  const misses = createLocalCounts();
  const known = new Map<string, { found: FoundRealm; at: number }>();
  const asking = new Map<string, Promise<FoundRealm>>();

  async function ask(host: string, meta: RequestMeta): Promise<FoundRealm> {
    try {
      const { realm_id: realmId, realm_url } = await bus.call(userOperations.findRealm, { host }, { meta });
      const found = { realmId, realmUrl: realm_url ?? (await urlByPolicy({ ...meta, realmId })) };
      if (known.size >= maxEntries) known.clear();
      known.set(host, { found, at: Date.now() });
      return found;
    } catch (error) {
      const last = known.get(host);
      const isOutage = error instanceof ChatError && error.code === 'SERVICE_UNAVAILABLE';
      if (isOutage && last && Date.now() - last.at < usableMs) return last.found;
      if (!isOutage) known.delete(host);
      if (error instanceof ChatError && error.code === 'NONEXISTENT_SUBDOMAIN')
        misses.add(meta.network ?? '', 1, missRate.windowSeconds);
      throw error;
    }
  }

  /** A users service of the previous release answers no URL. */
  async function urlByPolicy(meta: RequestMeta): Promise<string> {
    const policy = await bus.call(userOperations.getRealmPolicy, {}, { meta });
    return defaultRealmUrl(policy.host);
  }

  return async (host, meta) => {
    const last = known.get(host);
    const network = meta.network ?? '';
    if (!last && misses.get(network) >= missRate.limit)
      throw rateLimitHit({ ...missRate, remaining: 0, reset: Date.now() / 1000 + misses.left(network), isOver: true });
    if (last && Date.now() - last.at < freshMs) return last.found;
    const running = asking.get(host) ?? ask(host, meta).finally(() => asking.delete(host));
    asking.set(host, running);
    return running;
  };
}
