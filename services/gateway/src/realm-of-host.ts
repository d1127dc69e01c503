import { ChatError, type RequestMeta, userOperations } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';

const freshMs = 2_000;
const usableMs = 60_000;
const maxEntries = 10_000;

/** Which realm a host belongs to. Asked again after two seconds, so that new and renamed realms are noticed; an outage is bridged. */
export function createRealmFinder(bus: Bus): (host: string, meta: RequestMeta) => Promise<number> {
  const known = new Map<string, { realmId: number; at: number }>();
  const asking = new Map<string, Promise<number>>();

  async function ask(host: string, meta: RequestMeta): Promise<number> {
    try {
      const { realm_id } = await bus.call(userOperations.findRealm, { host }, { meta });
      if (known.size >= maxEntries) known.clear();
      known.set(host, { realmId: realm_id, at: Date.now() });
      return realm_id;
    } catch (error) {
      const last = known.get(host);
      const isOutage = error instanceof ChatError && error.code === 'SERVICE_UNAVAILABLE';
      if (isOutage && last && Date.now() - last.at < usableMs) return last.realmId;
      if (!isOutage) known.delete(host);
      throw error;
    }
  }

  return (host, meta) => {
    const last = known.get(host);
    if (last && Date.now() - last.at < freshMs) return Promise.resolve(last.realmId);
    const running = asking.get(host) ?? ask(host, meta).finally(() => asking.delete(host));
    asking.set(host, running);
    return running;
  };
}
