import { context, propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

/**
 * Sends spans to an OpenTelemetry collector; without an endpoint nothing is recorded and spans cost nothing.
 * Returns what sends the last spans.
 */
export function startTracing(
  service: string,
  { endpoint, ratio }: { endpoint: string | undefined; ratio: number },
): () => Promise<void> {
  if (!endpoint) return async () => undefined;
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `natter-${service}` }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` }) }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  return () => provider.shutdown().catch(() => undefined);
}

const tracer = trace.getTracer('natter');

type Attributes = Record<string, string | number | undefined>;

/** Runs `work` in a span; a failure of it marks the span. `parent`: the `traceparent` that came with the request. */
export async function inSpan<T>(
  name: string,
  options: { kind: 'client' | 'server'; parent?: string | undefined; attributes?: Attributes },
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const from = options.parent === undefined ? context.active() : contextOf(options.parent);
  const kind = options.kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT;
  return tracer.startActiveSpan(name, { kind, attributes: options.attributes ?? {} }, from, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Marks that an event which was emitted under `parent` came by here; its delay is the span's length. */
export function spanOfDelivery(name: string, parent: string, startedAt: number, attributes: Attributes): void {
  tracer.startSpan(name, { kind: SpanKind.CONSUMER, startTime: startedAt, attributes }, contextOf(parent)).end();
}

/** The active trace as a `traceparent`, for a header or an event; undefined when nothing is recorded. */
export function activeTrace(): string | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

const contextOf = (traceparent: string) => propagation.extract(ROOT_CONTEXT, { traceparent });
