import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { checkGateway } from './doctor-gateway.ts';

async function findings(status: number, body: Record<string, unknown>): Promise<unknown> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [finding] = await checkGateway(url).finally(() => server.close());
  return { ...finding, text: finding?.text.replace(url, 'URL') };
}

test('if no realm exists, the doctor suggests `natter realm create`', async () => {
  expect(await findings(404, { result: 'error', code: 'NONEXISTENT_SUBDOMAIN', msg: 'Invalid subdomain' })).toEqual({
    state: 'FAIL',
    subject: 'gateway',
    text: 'URL answers, but there is no realm for this host: make one with `natter realm create … --default`',
  });
});

test('the doctor reports the status of any other error response', async () => {
  expect(await findings(503, { result: 'error', code: 'SERVICE_UNAVAILABLE', msg: '' })).toEqual({
    state: 'FAIL',
    subject: 'gateway',
    text: 'URL answered 503',
    page: 'docs/operating/command.md#an-unreachable-gateway',
  });
});
