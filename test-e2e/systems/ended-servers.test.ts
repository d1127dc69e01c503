import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { openSystem } from '../open-system.ts';

let system: System;
const lines: string[] = [];
beforeAll(async () => {
  system = await openSystem({ log: (line) => lines.push(line) });
});
afterAll(() => system?.stop());

const ask = (method: string, path: string, form: Record<string, unknown>, headers?: Record<string, string>) =>
  request(system.url, { ...system.people.member, headers }, `${method} ${path}`, form);

/** Sends a message, and repeats it under its key as clients do. Returns its id. */
async function send(content: string): Promise<number> {
  const form = { type: 'channel', to: 'general', topic: 'servers', content };
  const attempt = () => ask('POST', '/messages', form, { 'idempotency-key': `key of ${content}` });
  let answer = await attempt();
  while (answer.status === 503) answer = await attempt();
  expect(answer.status).toBe(200);
  return answer.body.id;
}

test.each(['postgres', 'redis', 'nats'] as const)('the system continues after %s exits', async (name) => {
  const { queue_id } = (await ask('POST', '/register', { event_types: ['message'] })).body;
  const sent = [await send(`before ${name}`)];
  const { pid } = system.servers[name];
  process.kill(pid ?? 0, 'SIGKILL');
  for (let count = 0; count < 5; count++) sent.push(await send(`${name} ${count}`));
  await expect.poll(() => system.servers[name].pid).not.toBe(pid);
  sent.push(await send(`after ${name}`));
  const received: number[] = [];
  for (let last = -1; received.length < sent.length; ) {
    const { status, body } = await ask('GET', '/events', { queue_id, last_event_id: last });
    if (status === 503) continue;
    expect(status).toBe(200);
    for (const event of body.events) {
      expect(event.type).toBe('message');
      received.push(event.message.id);
      last = event.id;
    }
  }
  expect(received).toEqual(sent);
  expect(lines).toContain(`${name} ended with SIGKILL and is started again`);
});
