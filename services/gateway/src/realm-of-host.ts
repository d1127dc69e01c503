import { ChatError, defaultRealmUrl, type RequestMeta, userOperations } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';

const freshMs = 2_000;
const usableMs = 60_000;
const maxEntries = 10_000;

export interface FoundRealm {
  realmId: number;
  /** For services of the previous release alone, which read it from the request: the configured origin. */
  realmUrl: string;
}

/** Which realm a host belongs to. Asked again after two seconds, so that new and renamed realms are noticed; an outage is bridged. */
export function createRealmFinder(bus: Bus): (host: string, meta: RequestMeta) => Promise<FoundRealm> {
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
      throw error;
    }
  }

  /** A users service of the previous release answers no URL. */
  async function urlByPolicy(meta: RequestMeta): Promise<string> {
    const policy = await bus.call(userOperations.getRealmPolicy, {}, { meta });
    return defaultRealmUrl(policy.host);
  }

  return (host, meta) => {
    const last = known.get(host);
    if (last && Date.now() - last.at < freshMs) return Promise.resolve(last.found);
    const running = asking.get(host) ?? ask(host, meta).finally(() => asking.delete(host));
    asking.set(host, running);
    return running;
  };
}
