import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger, createMetrics, type Metrics } from '@natter/service-kit';
import { afterEach, expect, test } from 'vitest';
import { type Canary, startCanary } from './canary.ts';

/** A server that acknowledges every message and delivers what `deliver` returns for it. */
interface FakeServer {
  url: string;
  sent: string[];
  recipients: Set<string>;
  isQueueLost: boolean;
  close(): void;
}
type Deliver = (content: string, id: number) => { id: number; content: string }[];

const userId = 17;
let fake: FakeServer;
let canary: Canary | undefined;
afterEach(async () => {
  await canary?.stop();
  fake.close();
});

async function startFake(deliver: Deliver, sendStatus = 200): Promise<FakeServer> {
  const events: { id: number; type: string; message: { id: number; content: string } }[] = [];
  let messageId = 0;
  const server: Server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://fake');
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = (status: number, fields: object): void => {
      response.statusCode = status;
      response.end(JSON.stringify({ result: status === 200 ? 'success' : 'error', msg: '', ...fields }));
    };
    if (url.pathname.endsWith('/users/me')) return answer(200, { user_id: userId });
    if (url.pathname.endsWith('/register')) return answer(200, { queue_id: 'q', last_event_id: -1 });
    if (url.pathname.endsWith('/messages')) {
      const form = new URLSearchParams(body);
      state.recipients.add(form.get('to') ?? '');
      const content = form.get('content') ?? '';
      state.sent.push(content);
      if (sendStatus === 200)
        for (const message of deliver(content, ++messageId))
          events.push({ id: events.length, type: 'message', message });
      return answer(sendStatus, {});
    }
    if (state.isQueueLost) {
      state.isQueueLost = false;
      return answer(400, { code: 'BAD_EVENT_QUEUE_ID' });
    }
    const after = Number(url.searchParams.get('last_event_id'));
    const deadline = Date.now() + 200;
    while (events.length - 1 <= after && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
    answer(200, { events: events.filter(({ id }) => id > after) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: FakeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: [],
    recipients: new Set(),
    isQueueLost: false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return state;
}

/** By default a message is late only after a time that no busy machine needs. */
function watch(url: string, patienceMs = 60_000): Metrics {
  const metrics = createMetrics('canary');
  const options = { url, email: 'canary@example.com', apiKey: 'key', intervalMs: 20, patienceMs };
  canary = startCanary(options, createLogger('canary', 'fatal'), metrics);
  return metrics;
}

async function measured({ registry }: Metrics, name: string, label?: string): Promise<number> {
  const line = (await registry.metrics())
    .split('\n')
    .find((text) => text.startsWith(name) && (label === undefined || text.includes(label)));
  return Number(line?.split(' ').at(-1));
}

test('the canary receives each of its messages once, in order', async () => {
  fake = await startFake((content, id) => [{ id, content }]);
  const metrics = watch(fake.url);
  await expect.poll(() => measured(metrics, 'natter_canary_delivery_seconds_count')).toBeGreaterThan(5);
  for (const name of ['doubled_total', 'reordered_total', 'queues_lost_total', 'undelivered'])
    expect(await measured(metrics, `natter_canary_${name}`), name).toBe(0);
});

test('the canary sends to its ID, because others may not see the address that it logs in with', async () => {
  fake = await startFake((content, id) => [{ id, content }]);
  const metrics = watch(fake.url);
  await expect.poll(() => measured(metrics, 'natter_canary_delivery_seconds_count')).toBeGreaterThan(1);
  expect([...fake.recipients]).toEqual([`[${userId}]`]);
});

test('acknowledged messages that do not arrive are counted', async () => {
  fake = await startFake(() => []);
  const metrics = watch(fake.url, 100);
  await expect.poll(() => measured(metrics, 'natter_canary_undelivered')).toBeGreaterThan(3);
});

test('messages that were not acknowledged are not expected', async () => {
  fake = await startFake((content, id) => [{ id, content }], 503);
  const metrics = watch(fake.url, 100);
  await expect.poll(() => measured(metrics, 'natter_canary_sends_total', 'unknown')).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await measured(metrics, 'natter_canary_undelivered')).toBe(0);
});

test('messages that arrive twice or out of order are counted', async () => {
  fake = await startFake((content, id) => [
    { id, content },
    { id, content },
  ]);
  const doubled = watch(fake.url);
  await expect.poll(() => measured(doubled, 'natter_canary_doubled_total')).toBeGreaterThan(3);
  await canary?.stop();
  fake.close();
  fake = await startFake((content, id) => [{ id: 1_000 - id, content }]);
  const reordered = watch(fake.url);
  await expect.poll(() => measured(reordered, 'natter_canary_reordered_total')).toBeGreaterThan(3);
});

test('the canary counts a lost queue, registers again and continues', async () => {
  fake = await startFake((content, id) => [{ id, content }]);
  const metrics = watch(fake.url);
  await expect.poll(() => measured(metrics, 'natter_canary_delivery_seconds_count')).toBeGreaterThan(2);
  fake.isQueueLost = true;
  await expect.poll(() => measured(metrics, 'natter_canary_queues_lost_total')).toBe(1);
  const before = await measured(metrics, 'natter_canary_delivery_seconds_count');
  await expect.poll(() => measured(metrics, 'natter_canary_delivery_seconds_count')).toBeGreaterThan(before + 2);
});
