import { type Finding, fail, ok, section } from './finding.ts';

/** Sends a request over the same path as clients. */
export async function checkGateway(url: string): Promise<Finding[]> {
  const startedAt = Date.now();
  const response = await fetch(`${url.replace(/\/$/, '')}/api/v1/server_settings`, {
    signal: AbortSignal.timeout(10_000),
  }).catch((error: Error) => {
    throw new Error(`${url} is not reached: ${error.cause instanceof Error ? error.cause.message : error.message}`);
  });
  const body = (await response.json()) as { result?: string; code?: string; realm_name?: string };
  if (body.code === 'NONEXISTENT_SUBDOMAIN')
    return [
      fail(
        'gateway',
        `${url} answers, but there is no realm for this host: make one with \`natter realm create … --default\``,
      ),
    ];
  if (response.status !== 200 || body.result !== 'success')
    return [fail('gateway', `${url} answered ${response.status}`, section('an-unreachable-gateway'))];
  return [ok('gateway', `${url} answered for "${body.realm_name}" in ${Date.now() - startedAt} ms`)];
}
