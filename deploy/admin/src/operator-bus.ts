import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type RequestMeta, userOperations } from '@natter/contracts';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';
import { requireEnv } from './command.ts';

/** How long a command waits for NATS, which may restart. */
const patienceMs = 10_000;

/** Runs `work` with a connection to NATS as the user `operator`. */
export async function withBus<R>(work: (bus: Bus) => Promise<R>): Promise<R> {
  const bus = await connect(requireEnv('NATTER_NATS_URL', 'NATS with the credentials of its user "operator"'));
  try {
    return await work(bus);
  } finally {
    await bus.drain();
  }
}

async function connect(url: string): Promise<Bus> {
  if (!URL.canParse(url) || new URL(url).host === '')
    throw new Error('NATTER_NATS_URL is not a URL: nats://USER:PASSWORD@HOST');
  const [log, metrics] = [createLogger('natter', 'fatal'), createMetrics('natter')];
  for (const end = performance.now() + patienceMs; ; ) {
    try {
      return await connectBus({ url, name: 'operator', log, metrics, failsAtOnce: true });
    } catch (error) {
      if (performance.now() > end) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`NATS at ${new URL(url).host} is unreachable, or refuses its user "operator": ${reason}`);
      }
      await pause(500);
    }
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
