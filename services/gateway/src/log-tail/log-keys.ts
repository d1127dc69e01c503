import { type KeyObject, randomUUID } from 'node:crypto';
import { eventQueueOperations } from '@natter/contracts';
import { createVerifier, signingKey, type Verifier } from '@natter/event-log';
import type { Bus, Logger } from '@natter/service-kit';

/** Minimum time between two readings of the keys: after one failed, or after a signature did not match a known key. */
const askAgainMs = 5_000;

/**
 * Verifies entries of the log with the keys of the services, which event-queue provides. Without keys no entry is
 * genuine.
 */
export function createLogVerifier(bus: Bus, logger: Logger): Verifier {
  let keys = new Map<string, KeyObject>();
  let askedAt = Number.NEGATIVE_INFINITY;
  const ask = (): void => {
    if (performance.now() - askedAt < askAgainMs) return;
    askedAt = performance.now();
    const meta = { requestId: randomUUID(), realmId: 0, client: 'gateway', realmUrl: '' };
    bus.call(eventQueueOperations.getLogKeys, {}, { meta }).then(
      (found) => {
        keys = new Map(found.keys.map(({ source, key }) => [source, signingKey(Buffer.from(key, 'base64'))]));
      },
      (error: unknown) => {
        logger.warn({ err: error }, 'reading the signing keys failed; entries are read from the record');
        setTimeout(ask, askAgainMs * (1 + Math.random() * 0.2)).unref();
      },
    );
  };
  ask();
  return createVerifier((source) => keys.get(source), ask);
}
