import { defaultRealmUrl, type RealmPolicy, type RequestMeta, userOperations } from '@natter/contracts';
import type { Bus } from './bus.ts';

export interface RealmPolicies {
  /**
   * The realm's permissions and settings: as they are, where the request says their version, as all do whose copies are brought up
   * to date before. Else a copy that may be stale: whoever decides with it commits on `realm@<version>`, and never refuses on it
   * before asking once more with `fresh`.
   */
  get(meta: RequestMeta, fresh: boolean): Promise<RealmPolicy>;
}

const maxEntries = 10_000;

export function createRealmPolicies(bus: Bus): RealmPolicies {
  const known = new Map<number, RealmPolicy>();
  return {
    async get(meta, fresh) {
      const cached = known.get(meta.realmId);
      const isCurrent = meta.realmVersion === undefined ? !fresh : (cached?.version ?? -1) >= meta.realmVersion;
      if (cached && isCurrent) return cached;
      const asked = (await bus.call(userOperations.getRealmPolicy, {}, { meta })) as RealmPolicy;
      // Services of the previous release, which run beside this one during an upgrade, answer no URL.
      const policy = { ...asked, url: asked.url ?? defaultRealmUrl(asked.host) };
      if (known.size >= maxEntries) known.clear();
      known.set(meta.realmId, policy);
      return policy;
    },
  };
}

/** The basis of a decision made with this policy. */
export const realmBasis = (policy: RealmPolicy): Record<string, number> => ({ realm: policy.version });
