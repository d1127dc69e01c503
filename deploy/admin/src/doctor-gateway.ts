import { type Finding, fail, ok } from './finding.ts';

/** The way in, as a client takes it. */
export async function checkGateway(url: string): Promise<Finding[]> {
  const startedAt = Date.now();
  const response = await fetch(`${url.replace(/\/$/, '')}/api/v1/server_settings`, {
    signal: AbortSignal.timeout(10_000),
  });
  const body = (await response.json()) as { result?: string; realm_name?: string };
  if (response.status !== 200 || body.result !== 'success')
    return [fail('gateway', `${url} answered ${response.status}`)];
  return [ok('gateway', `${url} answered for "${body.realm_name}" in ${Date.now() - startedAt} ms`)];
}
