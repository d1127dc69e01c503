import { internalTypes, type LogEvent, type Operation, problemOfLogEvent } from '@natter/contracts';
import type { Logger } from './logging.ts';
import { Counter, type Metrics } from './metrics.ts';

type Emitter = Pick<Operation, 'name' | 'events'>;

/**
 * Compares committed events with their declarations, and their types with those that the operation lists whose request
 * emitted them: all of them in tests, where the log line fails the run, and a sample in production. A mismatch is a bug of the
 * emitter. It is logged and counted, but fails no request.
 */
export function createEventCheck(
  { registry }: Metrics,
  log: Logger,
  ratio: number,
): (event: LogEvent, operation?: Emitter) => void {
  const undeclared = new Counter({
    name: 'natter_undeclared_events_total',
    help: 'Events of the sample that are not as they are declared: each is a bug',
    registers: [registry],
  });
  return (event, operation) => {
    if (Math.random() >= ratio) return;
    const problem = problemOfLogEvent(event) ?? problemOfEmitter(event, operation);
    if (problem === undefined) return;
    undeclared.inc();
    log.error({ problem }, 'undeclared event');
  };
}

function problemOfEmitter({ type }: LogEvent, operation: Emitter | undefined): string | undefined {
  if (!operation || internalTypes.has(type) || operation.events.includes(type)) return undefined;
  return `${operation.name} does not list ${type}`;
}
