import type { LogEvent } from '@natter/contracts';
import { context, propagation } from '@opentelemetry/api';

/** The event with the trace it was emitted under, so that its delivery is seen in the same trace. */
export function traced(event: LogEvent): LogEvent {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent === undefined ? event : { ...event, trace: carrier.traceparent };
}
