import type { NatsConnection } from '@nats-io/nats-core';
import { Svcm } from '@nats-io/services';
import type { ServiceProgram } from '@natter/contracts';
import { nameOnNats } from './wire.ts';

/** The processes of a program that answered. */
export interface Pinged {
  /** The releases of the processes, each once. */
  versions: string[];
  /** Milliseconds until the first answer. */
  latencyMs: number;
}

/** How long to wait for the first process, and then for each further one. A busy process answers late. */
const patienceMs = 1_500;
const furtherMs = 300;
/** Maximum number of releases in the result. */
const maxVersions = 10;

/**
 * Asks the processes of a program for a sign of life, which needs nothing but NATS and their event loops. Undefined if none
 * answers in time.
 */
export async function ping(nats: NatsConnection, name: ServiceProgram): Promise<Pinged | undefined> {
  const sentAt = performance.now();
  let latencyMs: number | undefined;
  const versions = new Set<string>();
  try {
    const client = new Svcm(nats).client({ strategy: 'stall', maxWait: patienceMs, stall: furtherMs });
    for await (const { version } of await client.ping(nameOnNats(name))) {
      latencyMs ??= performance.now() - sentAt;
      if (versions.size < maxVersions) versions.add(version);
    }
  } catch {
    // NATS has no process of this name, or refuses the subject, or there is no connection.
  }
  return latencyMs === undefined ? undefined : { versions: [...versions].sort(), latencyMs };
}
