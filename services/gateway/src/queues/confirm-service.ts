import { randomUUID } from 'node:crypto';
import { eventQueueOperations } from '@natter/contracts';
import type { Bus, Logger } from '@natter/service-kit';

const everyMs = 1_000;

/**
 * Confirms continuously that clients can poll, on the path that polls take. While no gateway confirms it, no queue
 * expires.
 */
export function confirmService(bus: Bus, log: Logger): { stop(): void } {
  let isStopped = false;
  void (async () => {
    while (!isStopped) {
      const meta = { requestId: randomUUID(), realmId: 0, client: 'gateway', realmUrl: '' };
      await bus
        .call(eventQueueOperations.confirmService, {}, { meta })
        .catch((error: unknown) => log.debug({ err: error }, 'confirming the service failed'));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    stop: () => {
      isStopped = true;
    },
  };
}
