import { ChatError, userOperations } from '@natter/contracts';
import { expect, test } from 'vitest';
import type { Shown } from '../authentication/caller.ts';
import { createBodyBudget } from '../http/body-budget.ts';
import { createBodyTurns } from '../http/body-turns.ts';
import type { InTurn } from '../rate-limit/in-turn.ts';
import { route } from './route.ts';

const mebibyte = 1024 * 1024;
const newBudget = () => createBodyBudget({ total: 64 * mebibyte, perCaller: 32 * mebibyte, largest: 16 * mebibyte });
const reply = { code: () => reply, header: () => reply, send: () => reply };

test('after its credentials ended, a client gets an error about its key only if it sent one', async () => {
  const codeFor = async (shown: Shown): Promise<unknown> => {
    const request = {
      method: 'GET',
      url: '/api/v1/users/me',
      raw: { url: '/api/v1/users/me' },
      headers: {},
      admitted: {
        place: {
          methods: ['GET'],
          operations: [userOperations.getOwnUser],
          surface: 'api',
          operation: () => ({ operation: userOperations.getOwnUser, path: {} }),
        },
        operation: userOperations.getOwnUser,
        actor: undefined,
        shown,
        meta: { realmId: 1, realmUrl: 'http://localhost' },
        lease: newBudget().open({ group: 'realm:1', caller: 'user:1:1' }, { mayBeCut: false, cut: () => undefined }),
        spentMs: 0,
      },
    };
    const answer = () => Promise.reject(new ChatError('INVALID_API_KEY', 'Invalid API key'));
    const routed = route({ answer, inTurn: (_, work) => work(), bodyTurns: createBodyTurns() }, {
      request,
      reply,
    } as never);
    return routed.catch((error: ChatError) => error.code);
  };
  expect(await codeFor({ credential: { header: 'Basic eA==' } })).toBe('INVALID_API_KEY');
  expect(await codeFor({ credential: { session: 'x' } })).toBe('UNAUTHORIZED');
  expect(await codeFor({ credential: { header: undefined }, optionalSession: 'x' })).toBe('UNAUTHORIZED');
});

test('a body that waits for its turn counts against the budget even after its client disconnected', async () => {
  const budget = newBudget();
  const lease = budget.open({ group: 'realm:1', caller: 'user:1:1' }, { mayBeCut: false, cut: () => undefined });
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
  let start = (): void => undefined;
  const inTurn: InTurn = async (_, work) => {
    await new Promise<void>((resolve) => {
      start = resolve;
    });
    return work();
  };
  const routed = route({ answer: async () => undefined, inTurn, bodyTurns: createBodyTurns() }, {
    request,
    reply,
  } as never);
  // The connection closes.
  lease.release();
  expect(budget.held).toBe(mebibyte);
  start();
  await routed;
  expect(budget.held).toBe(0);
  expect(request.body).toBeUndefined();
});
