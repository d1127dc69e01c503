import { ChatError, groupOperations } from '@natter/contracts';
import { addCost } from '@natter/database';
import { expect, test } from 'vitest';
import { createBlocks } from './blocks.ts';
import { createBusClient } from './bus-client.ts';
import { createReplies } from './bus-replies.ts';
import { chargedToRealm } from './cost.ts';
import { broker } from './in-memory-nats.ts';
import type { LostCalls } from './lost-calls.ts';
import { subscribe } from './subscribe.ts';
import { subjectOf } from './wire.ts';

const log = { error: () => undefined };
/** No call is lost. */
const none: LostCalls = {
  watch: () => ({ lost: new Promise(() => undefined), done: () => undefined }),
  responsive: () => undefined,
  confirmed: async () => undefined,
  reconnected: () => undefined,
};

const lag = { current: () => ({ ms: 0, longMs: 0 }) };

test('a refusal that no message of NATS can carry reaches its caller', async () => {
  const { connection } = broker();
  const objections = Array.from({ length: 8_000 }, (_, id) => ({
    type: 'channel',
    channel_id: id,
    settings: 'x'.repeat(100),
  }));
  const refusal = new ChatError('CANNOT_DEACTIVATE_GROUP_IN_USE', 'Cannot deactivate user group in use.', {
    objections,
  });
  const replies = createReplies(createBlocks(connection, 'users', log), lag as never);
  const operation = groupOperations.deactivateUserGroup;
  subscribe(connection, subjectOf(operation, 'messaging'), log, (message) => replies.refuse(message, refusal, () => 0));
  const client = createBusClient(connection, createBlocks(connection, 'messaging', log), none, 'messaging');
  const call = client.call(operation, { user_group_id: 1 }, { meta: { requestId: '', realmId: 1, client: '' } });
  await expect(call).rejects.toMatchObject({ code: refusal.code, extra: { objections } });
});

test('a caller learns from an answer what work for events costs in the answering process', async () => {
  const { connection } = broker();
  const replies = createReplies(createBlocks(connection, 'users', log), lag as never);
  const operation = groupOperations.deactivateUserGroup;
  const refusal = new ChatError('BAD_REQUEST', 'no');
  subscribe(connection, subjectOf(operation, 'messaging'), log, (message) => replies.refuse(message, refusal, () => 0));
  const client = createBusClient(connection, createBlocks(connection, 'messaging', log), none, 'messaging');
  await chargedToRealm(77, async () => addCost(1_000));
  expect(client.unreportedCosts().has(77)).toBe(false);
  const call = client.call(operation, { user_group_id: 1 }, { meta: { requestId: '', realmId: 1, client: '' } });
  await expect(call).rejects.toThrow('no');
  expect(client.unreportedCosts().get(77)).toBeGreaterThan(900);
});
