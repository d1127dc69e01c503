import type { RealmPolicy, RequestMeta } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { createRealmPolicies } from './realm-policy.ts';

let stored = 10;
const bus = { call: async () => ({ version: stored, url: 'http://localhost' }) as RealmPolicy } as unknown as Bus;
const at = (realmVersion: number): RequestMeta => ({
  requestId: '1',
  realmId: 1,
  client: 'test',
  realmVersion,
});

test('a repeated attempt reads a policy again if its version was lost in a failover of PostgreSQL', async () => {
  stored = 10;
  const policies = createRealmPolicies(bus);
  await policies.get(at(10), false);
  stored = 9;
  expect((await policies.get(at(9), true)).version).toBe(9);
  expect((await policies.get(at(9), false)).version).toBe(9);
});
