import { randomUUID } from 'node:crypto';
import { type RequestMeta, userOperations } from '@natter/contracts';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import { requireEnv } from './command.ts';

/** Runs `work` with a connection to NATS as its user `operator`. */
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

/** The realm of exactly this host; an unknown host would fall back to the default realm and is refused. */
export async function realmOf(bus: Bus, host: string): Promise<RequestMeta> {
  const ask = (name: string) => bus.call(userOperations.findRealm, { host: name }, { meta: metaOf(0) });
  const { realm_id } = await ask(host);
  const isDefault = await ask(`no-such-host-${randomUUID()}.invalid`).then(
    (fallback) => fallback.realm_id === realm_id,
    () => false,
  );
  if (isDefault && host !== 'default') console.error(`note: ${host} is answered by the default realm (id ${realm_id})`);
  return metaOf(realm_id);
}
