import { randomUUID } from 'node:crypto';
import { ChatError, eventQueueOperations, type RequestMeta, userOperations } from '@natter/contracts';
import type { Bus, Logger } from '@natter/service-kit';

const everyMs = 1_000;

/** A well-formed API key that belongs to nobody. */
const noKey = '0'.repeat(32);

/**
 * Confirms continuously that clients can poll, on the path that polls take: users must be able to authenticate them, and
 * event-queue to serve them. While no gateway confirms it, no queue expires.
 */
export function confirmService(bus: Bus, log: Logger): { stop(): void } {
  let isStopped = false;
  void (async () => {
    while (!isStopped) {
      const meta = { requestId: randomUUID(), realmId: 0, client: 'gateway', realmUrl: '' };
      await canAuthenticate(bus, meta)
        .then(() => bus.call(eventQueueOperations.confirmService, {}, { meta }))
        .catch((error: unknown) => log.debug({ err: error }, 'confirming the service failed'));
      await new Promise((resolve) => setTimeout(resolve, everyMs * (0.9 + Math.random() * 0.2)));
    }
  })();
  return {
    stop: () => {
      isStopped = true;
    },
  };
}

/** Throws unless users looks up a key, and does not find it. */
async function canAuthenticate(bus: Bus, meta: RequestMeta): Promise<void> {
  const asked = bus.call(userOperations.authenticate, { email: undefined, api_key: noKey }, { meta });
  await asked.catch((error: unknown) => {
    if (!(error instanceof ChatError) || error.code !== 'INVALID_API_KEY') throw error;
  });
}
