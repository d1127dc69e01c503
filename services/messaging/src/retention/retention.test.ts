import { expect, test } from 'vitest';
import { applyRetention, type Retention } from './retention.ts';

test('messages of a realm are deleted although those of another realm cannot be', async () => {
  const places = [1, 2].map((realm_id) => ({ realm_id, channel_id: null, age: 1e9 }));
  const cleared: number[] = [];
  const retention = {
    readsOn: () => false,
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
