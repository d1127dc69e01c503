import { defaultRealmUrl, type RealmPolicy, type RequestMeta, userOperations } from '@natter/contracts';
import { type Bus, createSharedCache, heapBytes } from '@natter/service-kit';

export interface RealmPolicies {
  /**
   * The realm's permissions and settings. Current if the request names their version, which all requests do that bring
   * projections up to date first. Otherwise possibly stale: commit a decision with `realm@<version>`, and read with
   * `fresh` before a refusal.
   */
  get(meta: RequestMeta, fresh: boolean): Promise<RealmPolicy>;
}

/** Memory of the policies of all realms. A realm has one, so those with the longest are dropped first. */
const maxBytes = 64 * 1024 * 1024;
const key = 'policy';

export function createRealmPolicies(bus: Bus): RealmPolicies {
  const known = createSharedCache<RealmPolicy>({ maxBytes, sizeOf: heapBytes });
  return {
    async get(meta, fresh) {
      const cached = known.get(meta.realmId, key);
      if (cached && isCurrent(cached, meta, fresh)) return cached;
      const asked = await bus.call(userOperations.getRealmPolicy, {}, { meta });
      // Services of the previous release, which run side by side during an upgrade, return no URL.
      const policy = { ...asked, url: asked.url ?? defaultRealmUrl(asked.host) };
      known.set(meta.realmId, key, policy);
      return policy;
    },
  };
}

/**
 * A higher version than that of the request is newer, or was lost when PostgreSQL failed over to a replica that lacked
 * it. A repeated attempt therefore accepts the version of the request only.
 */
function isCurrent({ version }: RealmPolicy, { realmVersion }: RequestMeta, fresh: boolean): boolean {
  if (realmVersion === undefined) return !fresh;
  return fresh ? version === realmVersion : version >= realmVersion;
}

/** The expected versions of a decision made with this policy. */
export const realmVersions = (policy: RealmPolicy): Record<string, number> => ({ realm: policy.version });
