import type { RequestMeta } from '@natter/contracts';
import { createRealmPolicies } from '@natter/realm-policy';
import type { Bus } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { createAuthors } from './authors.ts';
import { createChannelCache } from './channel-cache.ts';

const metaOf = (realmId: number): RequestMeta => ({ requestId: '1', realmId, client: 'test' });

/** A bus that answers each call with an object, and counts the calls. */
function counting() {
  let calls = 0;
  const bus = { call: async () => ({ url: 'http://localhost', number: ++calls }) } as unknown as Bus;
  return { bus, calls: () => calls };
}

/** More entries than an organization without limits would need to push out all others. */
const many = 11_000;

const caches = {
  channels: (bus: Bus) => {
    const channels = createChannelCache(bus);
    return (realmId: number, key: number) => channels.get(key, metaOf(realmId), false);
  },
  authors: (bus: Bus) => {
    const authors = createAuthors(bus);
    return (realmId: number, key: number) => authors.get(metaOf(realmId), key, false);
  },
  policies: (bus: Bus) => {
    const policies = createRealmPolicies(bus);
    return (realmId: number, key: number) => policies.get(metaOf(realmId + key), false);
  },
};

test.each(Object.keys(caches) as (keyof typeof caches)[])(
  'one organization does not empty the cache of %s for others',
  async (name) => {
    const { bus, calls } = counting();
    const get = caches[name](bus);
    await get(1, 0);
    for (let key = 1; key <= many; key++) await get(2, key);
    const before = calls();
    await get(1, 0);
    expect(calls()).toBe(before);
  },
);
