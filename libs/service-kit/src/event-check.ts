import { type LogEvent, problemOfLogEvent } from '@natter/contracts';
import type { Logger } from './logging.ts';
import { Counter, type Metrics } from './metrics.ts';

/**
 * Compares committed events with their declarations: all of them in tests, where the log line fails the run, and a
 * sample in production. A mismatch is a bug of the emitter. It is logged and counted, but fails no request.
 */
export function createEventCheck({ registry }: Metrics, log: Logger, ratio: number): (event: LogEvent) => void {
  const undeclared = new Counter({
    name: 'natter_undeclared_events_total',
    help: 'Events of the sample that are not as they are declared: each is a bug',
    registers: [registry],
  });
  return (event) => {
    if (Math.random() >= ratio) return;
    const problem = problemOfLogEvent(event);
    if (problem === undefined) return;
    undeclared.inc();
    log.error({ problem }, 'undeclared event');
  };
}
