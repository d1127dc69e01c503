import { Svcm } from '@nats-io/services';
import { connect } from '@nats-io/transport-node';
import { servicePrograms } from '@natter/contracts';
import { nameOnNats } from '@natter/service-kit';
import { requireEnv } from './command.ts';
import { type Finding, fail, ok, runbook, warn } from './finding.ts';

/** Requests the statistics of every service over NATS; a service that answers is alive and reads its requests. */
export async function checkNats(): Promise<Finding[]> {
  const url = new URL(requireEnv('NATTER_NATS_URL', 'NATS with the credentials of its user "operator"'));
  const connection = await connect({
    servers: `${url.hostname}:${url.port || 4222}`,
    ...(url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : {}),
    name: 'natter doctor',
    inboxPrefix: '_INBOX.operator',
    reconnect: false,
    timeout: 5_000,
  });
  try {
    const findings = [ok('NATS', `${connection.info?.version ?? 'unknown version'} at ${url.hostname}`)];
    const seen = new Map<string, { instances: number; requests: number; errors: number }>();
    // The default ends 300 ms after an answer: one of a busy service may come later.
    const answers = await new Svcm(connection).client({ maxWait: 3_000, strategy: 'stall', stall: 1_500 }).stats();
    for await (const { name, endpoints = [] } of answers) {
      const entry = seen.get(name) ?? { instances: 0, requests: 0, errors: 0 };
      entry.instances++;
      for (const endpoint of endpoints) {
        entry.requests += endpoint.num_requests;
        entry.errors += endpoint.num_errors;
      }
      seen.set(name, entry);
    }
    for (const name of servicePrograms) {
      const entry = seen.get(nameOnNats(name));
      if (!entry) findings.push(fail(name, 'no instance answers', runbook('NatterServiceMissing')));
      else
        findings.push(
          entry.instances < 2
            ? warn(name, `1 instance (no spare), ${entry.requests} requests`, runbook('NatterNoSpare'))
            : ok(name, `${entry.instances} instances, ${entry.requests} requests`),
        );
    }
    return findings;
  } finally {
    await connection.close();
  }
}
