import type { Logger } from './logging.ts';
import { Counter, type Metrics } from './metrics.ts';

/**
 * An unhandled error is a bug, but must not end the process: the request that caused it could be repeated (ADR 10). It
 * is logged as fatal and counted; the alert NatterUnhandledError fires on it.
 */
export function surviveUnhandledErrors(metrics: Metrics, log: Logger): void {
  const unhandled = new Counter({
    name: 'natter_unhandled_errors_total',
    help: 'Exceptions and rejections that no code handled: each is a bug',
    labelNames: ['kind'],
    registers: [metrics.registry],
  });
  for (const kind of ['exception', 'rejection'] as const) unhandled.inc({ kind }, 0);
  process.on('uncaughtException', (error) => {
    unhandled.inc({ kind: 'exception' });
    log.fatal({ err: error }, 'uncaught exception');
  });
  process.on('unhandledRejection', (reason) => {
    unhandled.inc({ kind: 'rejection' });
    log.fatal({ err: reason instanceof Error ? reason : new Error(String(reason)) }, 'unhandled rejection');
  });
}
