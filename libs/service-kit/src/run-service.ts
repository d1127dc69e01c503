import type { z } from 'zod';
import { type Bus, connectBus } from './bus.ts';
import { type CommonConfig, type commonConfig, readConfig, redacted } from './config.ts';
import { createLogger, type Logger } from './logging.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { startOperationsServer } from './operations-server.ts';
import { watchStalls } from './stalls.ts';
import { startTracing } from './tracing.ts';
import { surviveUnhandledErrors } from './unhandled.ts';
import { startWatchdog } from './watchdog.ts';

export interface Process<C extends CommonConfig> {
  config: C;
  log: Logger;
  metrics: Metrics;
  bus: Bus;
}

export interface Running {
  /** Announces that this process will stop soon, so that clients move elsewhere. It still serves. */
  leave?(): void;
  /** Ends held polls and loops. No request is in flight; calls to other services still work. */
  stop(): Promise<void>;
}

const startGraceMs = 3_000;

/**
 * Reads the config, builds, starts, and waits for a signal. On SIGTERM: becomes not ready, waits, stops accepting
 * requests, stops, drains the bus, closes.
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
  const watchdogKnowsReady = startWatchdog(name);
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
    // A process that another process of Natter started ends together with it.
    process.once('disconnect', () => resolve('disconnect'));
  });
  // A start that waits for an unavailable server is aborted; one that is nearly done completes.
  void signalled.then(() =>
    setTimeout(() => {
      if (!readiness.isStarted) process.exit(1);
    }, startGraceMs),
  );
  const bus = await connectBus({ url: config.NATTER_NATS_URL, name, log, metrics });
  const running = await start({ config, log, metrics, bus });
  readiness.isStarted = true;
  watchdogKnowsReady();
  // Before this point a failed start ends the process, so that it is restarted.
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
  // New requests go to another replica; accepted ones are answered before anything closes.
  await bus.retire();
  await running.stop();
  await bus.drain();
  await operations.close();
  await endTracing();
  process.exit(0);
}
