import { expect, test } from 'vitest';
import { createBodyBudget } from '../http/body-budget.ts';
import type { InTurn } from './in-turn.ts';
import { route } from './route.ts';

test('a body that waits for its turn counts against the budget, also when its client has gone', async () => {
  const mebibyte = 1024 * 1024;
  const budget = createBodyBudget({ total: 64 * mebibyte, perOwner: 32 * mebibyte, largest: 16 * mebibyte });
  const lease = budget.open({ group: 'realm:1', owner: 'user:1:1' });
  lease.grow(mebibyte);
  const request = {
    method: 'POST',
    raw: { url: '/x' },
    headers: {},
    body: { bytes: Buffer.alloc(mebibyte), parse: () => ({ fields: {}, files: [] }) },
    admitted: {
      place: { methods: [], operations: [], operation: () => undefined },
      operation: undefined,
      actor: undefined,
      meta: { realmId: 1 },
      lease,
      spentMs: 0,
    },
  };
  const reply = { code: () => reply, header: () => reply, send: () => reply };
  let start = (): void => undefined;
  const inTurn: InTurn = async (_, work) => {
    await new Promise<void>((resolve) => {
      start = resolve;
    });
    return work();
  };
  const routed = route({ answer: async () => undefined, inTurn }, { request, reply } as never);
  // The connection closes.
  lease.release();
  expect(budget.held).toBe(mebibyte);
  start();
  await routed;
  expect(budget.held).toBe(0);
  expect(request.body).toBeUndefined();
});
