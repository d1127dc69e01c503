import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { context, propagation, trace } from '@opentelemetry/api';
import { expect, onTestFinished, test } from 'vitest';
import { activeTrace, inSpan, startTracing } from './tracing.ts';

/** A collector of spans; returns the names of those that it got until `stop`. */
async function collecting(ratio: number) {
  const got: string[] = [];
  const collector = createServer(async (request, response) => {
    got.push(...[...(await text(request)).matchAll(/"name":"(by [a-z ]+)"/g)].map(([, name = '']) => name));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const api of [trace, context, propagation]) api.disable();
    collector.close();
  });
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const flush = await startTracing('test', { endpoint, ratio });
  return { got, flush };
}

test('a client names the trace of its request, but does not choose whether it is recorded', async () => {
  const { got, flush } = await collecting(0);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const given = `00-${traceId}-b7ad6b7169203331-01`;
  const under = (name: string, parent: string | { ofClient: string }) =>
    inSpan(name, { kind: 'server', parent }, async () => activeTrace() ?? '');
  expect(await under('by a client', { ofClient: given })).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  expect(await under('by a client without a trace', { ofClient: 'x' })).toMatch(/-00$/);
  expect(await under('by a service', given)).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  await flush();
  expect(got).toEqual(['by a service']);
});
