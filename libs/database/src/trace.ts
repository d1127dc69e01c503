import type { LogEvent } from '@natter/contracts';
import { context, propagation } from '@opentelemetry/api';

/** The event with the trace in which it was emitted, so that its delivery is part of the same trace. */
export function traced(event: LogEvent): LogEvent {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent === undefined ? event : { ...event, trace: carrier.traceparent };
}
