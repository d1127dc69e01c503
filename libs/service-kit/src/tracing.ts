import {
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { whileRunning } from './stalls.ts';

/**
 * Sends spans to an OpenTelemetry collector. Without an endpoint nothing is recorded, spans cost nothing, and the
 * exporter is not loaded. Returns a function that sends the last spans.
 */
export async function startTracing(
  service: string,
  { endpoint, ratio }: { endpoint: string | undefined; ratio: number },
): Promise<() => Promise<void>> {
  if (!endpoint) return async () => undefined;
  isTracing = true;
  recordedShare = ratio;
  const { exportSpans } = await import('./span-exporter.ts');
  return exportSpans(service, { endpoint, ratio });
}

const tracer = trace.getTracer('natter');
const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
let isTracing = false;
let recordedShare = 0;

type Attributes = Record<string, string | number | undefined>;
type Parent = string | { ofClient: string };

/**
 * Runs `work` in a span; a failure marks the span. `parent`: the `traceparent` of the request. That of a client only
 * names the trace: this process decides whether the request is recorded.
 */
export async function inSpan<T>(
  name: string,
  options: { kind: 'client' | 'server'; parent?: Parent | undefined; attributes?: Attributes },
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const run = (span: Span) => (options.kind === 'server' ? whileRunning(name, () => work(span)) : work(span));
  if (!isTracing) return run(noSpan);
  const from = options.parent === undefined ? context.active() : contextUnder(options.parent);
  const kind = options.kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT;
  return tracer.startActiveSpan(name, { kind, attributes: options.attributes ?? {} }, from, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Records that an event emitted under `parent` arrived here; the length of the span is its delay. */
export function spanOfDelivery(name: string, parent: string, startedAt: number, attributes: Attributes): void {
  tracer.startSpan(name, { kind: SpanKind.CONSUMER, startTime: startedAt, attributes }, contextOf(parent)).end();
}

/** The active trace as a `traceparent`, for a header or an event; undefined if nothing is recorded. */
export function activeTrace(): string | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

const contextOf = (traceparent: string) => propagation.extract(ROOT_CONTEXT, { traceparent });

function contextUnder(parent: Parent): Context {
  if (typeof parent === 'string') return contextOf(parent);
  const from = contextOf(parent.ofClient);
  const given = trace.getSpanContext(from);
  if (!given) return from;
  const traceFlags = Math.random() < recordedShare ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(from, { ...given, traceFlags });
}
