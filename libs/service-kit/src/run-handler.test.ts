import {
  type Actor,
  badRequest,
  channelOperations,
  eventQueueOperations,
  unavailable,
  userOperations,
} from '@natter/contracts';
import { createLanes, currentDeadline, type Deadline, pause, withDeadline } from '@natter/database';
import { expect, test } from 'vitest';
import { handle } from './handlers.ts';
import { createRecovery } from './recovery.ts';
import type { Freshness } from './retry-on-changed-versions.ts';
import { runHandler, tenantOf } from './run-handler.ts';

const freshness: Freshness = {
  catchUp: async () => ({ isStale: false, realmVersion: undefined, isComplete: true }),
  refreshActor: async (actor) => actor,
  permits: undefined,
  units: undefined,
  gates: { hold: (_, __, work) => work(), enter: (_, unit) => unit([]) },
  inLane: createLanes(),
};

/** The answer of a read that fails with these errors before it succeeds. */
function answerAfter(errors: Error[]): Promise<unknown> {
  const handler = handle(eventQueueOperations.getLogKeys, async () => {
    const error = errors.shift();
    if (error) throw error;
    return { keys: [] };
  });
  const meta = { requestId: 'test', realmId: 1, client: 'test' };
  const request = { envelope: { meta, params: {} }, handler, call: undefined, isRetry: () => false };
  return withDeadline(10_000, (deadline: Deadline) =>
    runHandler(
      request as never,
      { freshness, kept: undefined, recovery: createRecovery(), failedAfterCommit: () => undefined },
      { deadline, log: () => undefined as never },
    ),
  );
}

test('a read whose connection to PostgreSQL breaks runs again', async () => {
  const broken = unavailable(new Error('Connection terminated unexpectedly'));
  const errors = [broken, broken];
  expect(await answerAfter(errors)).toEqual({ keys: [] });
  expect(errors).toEqual([]);
});

test('a read that is refused for another reason does not run again', async () => {
  const errors = [unavailable(new Error('too busy')), unavailable()];
  await expect(answerAfter(errors)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(errors.length).toBe(1);
});

/**
 * The answer of a read that finds its channel once projections are current, which takes this many attempts to see; the
 * deadline ends during one of them.
 */
async function answerOnceCurrent(attempts: number, deadlineAfter = Number.POSITIVE_INFINITY) {
  let left = attempts;
  let looks = 0;
  let runs = 0;
  const handler = handle(channelOperations.getStreamId, async () => {
    runs++;
    if (left > 0) throw badRequest('Invalid channel name');
    return { stream_id: 7 };
  });
  const catchUp: Freshness['catchUp'] = async () => {
    await pause(1);
    if (left > 0) left--;
    if (++looks === deadlineAfter) currentDeadline()?.cancel();
    return { isStale: false, realmVersion: undefined, isComplete: left === 0 };
  };
  const actor = { realmId: 1, userId: 5, role: 400, basis: {} };
  const meta = { requestId: 'test', realmId: 1, client: 'test' };
  const request = {
    envelope: { meta, actor, params: { stream: 'new' } },
    handler,
    call: undefined,
    isRetry: () => false,
  };
  const answer = await withDeadline(60_000, (deadline: Deadline) =>
    runHandler(
      request as never,
      {
        freshness: { ...freshness, catchUp },
        kept: undefined,
        recovery: createRecovery(),
        failedAfterCommit: () => undefined,
      },
      { deadline, log: () => undefined as never },
    ),
  ).catch((error: unknown) => error);
  return { answer, runs };
}

test('a refusal on projections that are behind is decided again as soon as they are current', async () => {
  expect(await answerOnceCurrent(5)).toEqual({ answer: { stream_id: 7 }, runs: 2 });
});

test('a refusal on projections that stay behind until the deadline is no refusal but an outage', async () => {
  expect(await answerOnceCurrent(Number.POSITIVE_INFINITY, 20)).toMatchObject({
    answer: { code: 'SERVICE_UNAVAILABLE' },
    runs: 1,
  });
});

test('requests without an account share the turns of one realm, whichever realms they address', () => {
  const at = (realmId: number) => ({
    meta: { requestId: '', realmId, client: '', network: '192.0.2.1' },
    params: {},
    actor: undefined,
  });
  const strangers = [1, 2].map((realmId) => tenantOf(userOperations.getServerSettings, at(realmId)));
  expect(strangers[0]).toEqual(strangers[1]);
  expect(strangers[0]?.realmId).toBeLessThan(0);
  const actor = { realmId: 1, userId: 5 } as Actor;
  expect(tenantOf(userOperations.getServerSettings, { ...at(1), actor })).toEqual({ realmId: 1, userId: 5 });
  // The check of a key has no actor, and is not for a stranger.
  expect(tenantOf(userOperations.authenticate, at(1))).toEqual({ realmId: 1, userId: 0 });
});
