import type { z } from 'zod';
import { type Bus, connectBus } from './bus.ts';
import { type CommonConfig, type commonConfig, readConfig, redacted } from './config.ts';
import { createLogger, type Logger } from './logging.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { startOperationsServer } from './operations-server.ts';
import { watchStalls } from './stalls.ts';
import { startTracing } from './tracing.ts';
import { surviveUnhandledErrors } from './unhandled.ts';

export interface Process<C extends CommonConfig> {
  config: C;
  log: Logger;
  metrics: Metrics;
  bus: Bus;
}

export interface Running {
  /** This process will stop soon: whoever talks to it had better go elsewhere. It still serves. */
  leave?(): void;
  /** Ends work from outside: answers held polls, stops loops. No request is in flight; calls to others still work. */
  stop(): Promise<void>;
}

const startGraceMs = 3_000;

/**
 * Reads config, builds, starts and waits for a signal. SIGTERM: not ready, wait, take no more requests, stop, drain the bus, close.
 */
export async function runService<S extends typeof commonConfig>(
  name: string,
  schema: S,
  start: (process: Process<z.output<S>>) => Promise<Running>,
): Promise<void> {
  const config = readConfig(schema, process.env) as z.output<S> & CommonConfig;
  const log = createLogger(name, config.NATTER_LOG_LEVEL);
  const metrics = createMetrics(name);
  watchStalls(metrics, log);
  log.info({ config: redacted(config) }, 'starting');
  const endTracing = await startTracing(name, {
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    ratio: config.NATTER_TRACE_RATIO,
  });
  const readiness = { isStarted: false, isDraining: false };
  const operations = await startOperationsServer(
    config.NATTER_OPERATIONS_HOST,
    config.NATTER_OPERATIONS_PORT,
    readiness,
    metrics.registry,
  );
  const signalled = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
    // Started by another process of ours, it ends with that one.
    process.once('disconnect', () => resolve('disconnect'));
  });
  // A start that waits for a server that is away ends with it; one that is nearly done is let through.
  void signalled.then(() =>
    setTimeout(() => {
      if (!readiness.isStarted) process.exit(1);
    }, startGraceMs),
  );
  const bus = await connectBus({ url: config.NATTER_NATS_URL, name, log, metrics });
  const running = await start({ config, log, metrics, bus });
  readiness.isStarted = true;
  // Before this a failed start ends the process, so that it is started again.
  surviveUnhandledErrors(metrics, log);
  log.info({ operationsPort: operations.port }, 'ready');
  process.send?.({ ready: true, operationsPort: operations.port });

  const signal = await signalled;
  log.info({ signal }, 'stopping');
  readiness.isDraining = true;
  running.leave?.();
  await new Promise((resolve) => setTimeout(resolve, config.NATTER_DRAIN_MS));
  const timer = setTimeout(() => process.exit(1), 20_000);
  timer.unref();
  // Whoever asks meanwhile is served by another replica; what was taken is answered before anything closes.
  await bus.retire();
  await running.stop();
  await bus.drain();
  await operations.close();
  await endTracing();
  process.exit(0);
}
