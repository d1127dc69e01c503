import { expect, test } from 'vitest';
import { applyRetention, type Retention } from './retention.ts';

test('messages of a realm are deleted although those of another realm cannot be', async () => {
  const places = [1, 2].map((realm_id) => ({ realm_id, channel_id: null, age: 1e9 }));
  const cleared: number[] = [];
  const retention = {
    readsOn: () => false,
    sizes: new Map(),
    database: { any: async () => places },
    policies: {
      get: async ({ realmId }: { realmId: number }) => {
        if (realmId === 1) throw new Error('always');
        return { settings: { message_retention_days: 1 }, version: 1 };
      },
    },
    background: async (realmId: number) => {
      cleared.push(realmId);
      return 0;
    },
  } as unknown as Retention;
  const failed: number[] = [];
  await applyRetention(
    retention,
    () => false,
    (_, { realm_id }) => failed.push(realm_id),
  );
  expect([failed, cleared]).toEqual([[1], [2]]);
});

test('a realm with many messages to delete takes turns with the others', async () => {
  const places = [1, 1, 2].map((realm_id) => ({ realm_id, channel_id: null, age: 1e9 }));
  const batches = new Map([
    [1, [200, 200, 200, 7, 200, 0]],
    [2, [200, 3]],
  ]);
  const cleared: number[] = [];
  const retention = {
    readsOn: () => false,
    sizes: new Map(),
    database: { any: async () => places },
    policies: { get: async () => ({ settings: { message_retention_days: 1 }, version: 1 }) },
    background: async (realmId: number) => {
      cleared.push(realmId);
      return batches.get(realmId)?.shift();
    },
  } as unknown as Retention;
  await applyRetention(
    retention,
    () => false,
    (error) => {
      throw error;
    },
  );
  expect(cleared).toEqual([1, 2, 1, 2, 1, 1, 1, 1]);
});

test('messages whose batch fails are deleted in smaller ones', async () => {
  let old = 230;
  let asked = 0;
  const retention = {
    readsOn: () => false,
    sizes: new Map(),
    database: {
      any: async ({ values }: { values: unknown[] }) => {
        if (values.length === 0) return [{ realm_id: 1, channel_id: null, age: 1e9 }];
        asked = Math.min(values.at(-1) as number, old);
        return Array.from({ length: asked }, (_, id) => ({ id }));
      },
    },
    policies: { get: async () => ({ settings: { message_retention_days: 1 }, version: 1 }) },
    background: async () => {
      if (asked > 60) throw new Error('too many');
      old -= asked;
      return asked;
    },
  } as unknown as Retention;
  let failures = 0;
  const round = () =>
    applyRetention(
      retention,
      () => false,
      () => failures++,
    );
  for (let rounds = 0; rounds < 10 && old > 0; rounds++) await round();
  expect(old).toBe(0);
  expect(failures).toBeGreaterThan(0);
});
