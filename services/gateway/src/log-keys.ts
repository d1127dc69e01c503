import { type KeyObject, randomUUID } from 'node:crypto';
import { eventQueueOperations } from '@natter/contracts';
import { createVerifier, signingKey, type Verifier } from '@natter/event-log';
import type { Bus, Logger } from '@natter/service-kit';

/** Keys are asked for again when something does not fit to them: one may be new, or there are none yet. */
const askAgainMs = 5_000;

/** Knows genuine entries of the log by the keys of their services, which event-queue tells. Without keys nothing is genuine. */
export function createLogVerifier(bus: Bus, logger: Logger): Verifier {
  let keys = new Map<string, KeyObject>();
  let askedAt = 0;
  const ask = (): void => {
    if (Date.now() - askedAt < askAgainMs) return;
    askedAt = Date.now();
    const meta = { requestId: randomUUID(), realmId: 0, client: 'gateway', realmUrl: '' };
    bus.call(eventQueueOperations.getLogKeys, {}, { meta }).then(
      (told) => {
        keys = new Map(told.keys.map(({ source, key }) => [source, signingKey(Buffer.from(key, 'base64'))]));
      },
      (error: unknown) => logger.warn({ err: error }, 'no keys of the log; entries are read from the record'),
    );
  };
  ask();
  return createVerifier((source) => keys.get(source), ask);
}
