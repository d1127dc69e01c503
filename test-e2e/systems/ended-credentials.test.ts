import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Credentials, request } from '../api.ts';
import { onEveryGateway } from '../every-gateway.ts';
import { openSystem } from '../open-system.ts';
import { untilServed } from '../patience.ts';

let system: System;
beforeAll(async () => {
  system = await openSystem();
});
afterAll(() => system?.stop());

const nobody: Credentials = { email: '', api_key: '' };
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** A new connection each time, which reaches any gateway. */
const call = (who: Credentials, method: string, path: string, form: Record<string, unknown> = {}) =>
  request(system.url, { ...who, headers: { connection: 'close' } }, `${method} ${path}`, form);
async function ok(who: Credentials, method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> {
  const { status, body } = await call(who, method, path, form);
  expect([status, body.msg]).toEqual([200, '']);
  return body;
}

/** An additional key of the member, cached by every gateway. */
async function stolenKey(): Promise<Credentials> {
  const { email, password } = system.people.member;
  const logIn = () => call(nobody, 'POST', '/fetch_api_key', { username: email, password });
  const { api_key } = (await untilServed(logIn)).body;
  const thief = { email, api_key };
  await onEveryGateway(system, () => ok(thief, 'GET', '/users/me'));
  return thief;
}

/** Revokes the key with the member's own key. */
async function endKey(thief: Credentials): Promise<void> {
  const { api_keys } = await ok(thief, 'GET', '/users/me/api_keys');
  const { id } = api_keys.find((key: Answer) => key.is_current);
  await ok(system.people.member, 'DELETE', `/users/me/api_keys/${id}`);
}

const stopped = (signal: NodeJS.Signals): void => {
  for (const child of system.children) if (child.program === 'event-queue') child.kill(signal);
};

test.each([
  ['a long poll', {}],
  ['a poll that may not wait', { dont_block: true }],
])('%s that came before its key ended does not return later events', async (_, form) => {
  // On a busy machine the poll may wait longer for the stopped service than its deadline allows.
  let answer = await pollOfEndedKey(form);
  for (let tries = 1; answer.status === 503 && tries < 5; tries++) answer = await pollOfEndedKey(form);
  expect(JSON.stringify(answer.body)).not.toContain('a secret');
  // The gateway may read the event of the revocation only after the service continues. Then the poll waits and ends empty.
  const { status, body } = answer;
  const outcome = status === 200 ? [status, body.events] : [status, body.code];
  expect([
    [200, []],
    [401, 'INVALID_API_KEY'],
  ]).toContainEqual(outcome);
});

async function pollOfEndedKey(form: Record<string, unknown>): Promise<{ status: number; body: Answer }> {
  const thief = await stolenKey();
  const { queue_id, last_event_id } = await ok(thief, 'POST', '/register', { event_types: ['message'] });
  // The first poll of a queue extends its life, so it waits for the stopped service after authentication.
  stopped('SIGSTOP');
  let poll: Promise<{ status: number; body: Answer }>;
  try {
    poll = call(thief, 'GET', '/events', { queue_id, last_event_id, ...form });
    await pause(700);
    await endKey(thief);
    const message = { type: 'direct', to: [system.people.member.user_id], content: 'a secret' };
    await ok(system.people.owner, 'POST', '/messages', message);
    await expect.poll(async () => (await call(thief, 'GET', '/users/me')).status).toBe(401);
  } finally {
    stopped('SIGCONT');
  }
  return poll;
}
