import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MessageObject } from '@natter/contracts';
import { expect, test } from 'vitest';
import type { ReachRules } from '../model/outgoing/guarded-request.ts';
import { callWebhook } from './call-webhook.ts';
import { DeliveryFailed } from './delivery-failed.ts';

const called = {
  botId: 1,
  realmId: 1,
  host: 'localhost',
  message: { type: 'private', content: 'hello' } as MessageObject,
  renderedContent: '',
};
const webhookAt = (base_url: string) => ({
  base_url,
  interface: 1,
  token: 'token',
  email: 'bot@localhost',
  full_name: 'Bot',
  owner_id: 1,
});

const failureOf = async (address: string, resolve?: ReachRules['resolve']): Promise<DeliveryFailed> => {
  const rules: ReachRules = { mayReach: (ip) => ip === '127.0.0.1', ...(resolve ? { resolve } : {}) };
  const error = await callWebhook(webhookAt(address), called, rules).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(DeliveryFailed);
  return error as DeliveryFailed;
};

test('a deeply nested response fails with a known error', async () => {
  const depth = 45_000;
  const body = `{"content":"x","widget_content":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const server = createServer((_, to) => to.end(body));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const failure = await failureOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.close();
  expect([failure.message, failure.isTransient]).toEqual(['Invalid response format', false]);
});

test.each([
  ['http://10.0.0.1/', 'an internal address'],
  ['http://user@127.0.0.1/', 'an address with credentials'],
  ['http://127.0.0.1:25/', 'a reserved port'],
])('the owner of a bot with the address %s is notified of the reason: %s', async (address, reason) => {
  expect((await failureOf(address)).told.markdown).toContain(reason);
});

test('a host name with an internal address fails like an unknown one', async () => {
  const internal = await failureOf('http://name.example/', async () => [{ address: '10.0.0.1', family: 4 }]);
  const missing = await failureOf('http://name.example/', async () => {
    throw new Error('ENOTFOUND');
  });
  expect([internal.message, internal.told, internal.isTransient]).toEqual([missing.message, missing.told, true]);
});
