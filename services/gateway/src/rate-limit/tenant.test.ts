import { expect, test } from 'vitest';
import { tenantOf } from './tenant.ts';

const meta = (realmId: number, network: string) => ({ requestId: '', realmId, client: '', network });

test('a network without an account is one tenant, whichever realms it addresses', () => {
  const tenants = [1, 2, 3].map((realmId) => tenantOf({ meta: meta(realmId, '192.0.2.1'), actor: undefined }));
  expect(new Set(tenants.map(({ realmId, userId }) => `${realmId} ${userId}`)).size).toBe(1);
  const other = tenantOf({ meta: meta(1, '192.0.2.2'), actor: undefined });
  expect(other.realmId).toBe(tenants[0]?.realmId);
  expect(other.userId).not.toBe(tenants[0]?.userId);
});

test('a request without an account does not take a turn of the realm that it addresses', () => {
  const actor = { realmId: 1, userId: 5 } as never;
  expect(tenantOf({ meta: meta(1, '192.0.2.1'), actor })).toEqual({ realmId: 1, userId: 5 });
  expect(tenantOf({ meta: meta(1, '192.0.2.1'), actor: undefined }).realmId).not.toBe(1);
});
