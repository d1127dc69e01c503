import { randomUUID } from 'node:crypto';
import { type RequestMeta, userOperations } from '@natter/contracts';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import { requireEnv } from './command.ts';

/** Runs `work` with a connection to NATS as the user `operator`. */
export async function withBus<R>(work: (bus: Bus) => Promise<R>): Promise<R> {
  const bus = await connectBus({
    url: requireEnv('NATTER_NATS_URL', 'NATS with the credentials of its user "operator"'),
    name: 'operator',
    log: createLogger('natter', 'fatal'),
    metrics: createMetrics('natter'),
  });
  try {
    return await work(bus);
  } finally {
    await bus.drain();
  }
}

export const metaOf = (realmId: number): RequestMeta => ({
  requestId: randomUUID(),
  realmId,
  client: 'natter',
});

/**
 * The realm with exactly this host, or the default realm for the word `default`. Over HTTP an unknown host resolves to the
 * default realm; a command with a mistyped host must not act on it.
 */
export async function realmOf(bus: Bus, host: string): Promise<RequestMeta> {
  const found = await bus.call(userOperations.findRealm, { host }, { meta: metaOf(0) });
  if (found.host !== host && host !== 'default')
    throw new Error(`no realm has the host ${host}: see natter realm list`);
  return metaOf(found.realm_id);
}
