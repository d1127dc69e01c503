import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem } from '@natter/local/system';
import { expect, test } from 'vitest';
import { request } from '../api.ts';

interface SpanData {
  traceId: string;
  name: string;
}

test('one trace leads from the request through the services to the delivery of its event', async () => {
  const spans: SpanData[] = [];
  let arrived: () => void = () => undefined;
  const collector = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      for (const resource of body.resourceSpans ?? [])
        for (const scope of resource.scopeSpans ?? []) spans.push(...scope.spans);
      response.setHeader('content-type', 'application/json').end('{}');
      arrived();
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const dataDir = await mkdtemp(join(tmpdir(), 'natter-test-'));
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, NATTER_TRACE_RATIO: '0' };
  const system = await startSystem({ dataDir, env, log: () => undefined });
  try {
    const { member } = system.people;
    // A gateway follows the log of a realm whose queue it serves.
    const queue = await request(system.url, member, 'POST', '/register', { event_types: ['message'] });
    const cursor = { queue_id: queue.body.queue_id, last_event_id: -1 };
    const polls = [0, 1].map(() => request(system.url, member, 'GET', '/events', { ...cursor, dont_block: true }));
    await Promise.all(polls);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const form = { type: 'direct', to: [member.user_id], content: 'x' };
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const sent = await request(system.url, member, 'POST', '/messages', form, headers);
    expect(sent.status).toBe(200);
    const wanted = ['gateway send-message', 'messaging.send-message', 'deliver message'];
    const seen = () => spans.filter((span) => span.traceId === traceId).map((span) => span.name);
    while (!wanted.every((name) => seen().includes(name)))
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    expect(seen()).toEqual(expect.arrayContaining(wanted));
  } finally {
    await system.stop();
    collector.close();
  }
});
