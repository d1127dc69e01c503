import { type CommonConfig, Counter, type Process, repeat, stopAll } from '@natter/service-kit';
import type { WebhookDelivery } from './deliver-webhook.ts';
import { endOverlongWaits, forgetOld } from './delivery-row.ts';
import { startWebhookLoop, type WebhookLoop } from './webhook-loop.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** Posts messages to outgoing webhook bots, and deletes those that could not be posted in time. */
export function startOutgoingWebhooks(
  { log, metrics }: Pick<Process<CommonConfig>, 'log' | 'metrics'>,
  delivery: WebhookDelivery,
): WebhookLoop {
  const deliveries = new Counter({
    name: 'natter_outgoing_webhook_deliveries_total',
    help: 'Attempts to post messages to outgoing webhook bots',
    labelNames: ['outcome'],
    registers: [metrics.registry],
  });
  const loop = startWebhookLoop(delivery, {
    onOutcome: (outcome) => deliveries.inc({ outcome }),
    onError: (error, context) => log.warn({ err: error, ...context }, 'posting to an outgoing webhook bot failed'),
  });
  const onWaitError = (error: unknown): void => log.warn({ err: error }, 'correcting the times of deliveries failed');
  const stopCorrecting = repeat({ everyMs: minuteMs, onError: onWaitError }, async () => {
    if ((await endOverlongWaits(delivery.database)) > 0) loop.hint();
  });
  const onError = (error: unknown): void => log.warn({ err: error }, 'deleting old deliveries failed');
  const stopSweep = repeat({ everyMs: hourMs, onError }, (isStopped) => forgetOld(delivery.database, isStopped));
  return {
    hint: loop.hint,
    stop: () => stopAll([loop.stop, stopCorrecting, stopSweep]),
  };
}
