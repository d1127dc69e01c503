import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { delays } from './lag.ts';
import { createRequestRate } from './request-rate.ts';

export { Counter, Gauge, Histogram };

export interface Metrics {
  registry: Registry;
  requestSeconds: Histogram<'operation' | 'outcome'>;
  natsUp: Gauge;
  /** Failures of what follows a commit: the request succeeds nevertheless. */
  failuresAfterCommit: Counter;
  /** Answers above the limit of all operations, which were refused. */
  answersTooLarge: Counter<'operation'>;
  /** An operation begins. */
  began(): void;
}

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * The library would wake each idle process a hundred times a second to measure its event loop, which took more than half of
 * the CPU time of an idle process. The looks of the lag meter measure the same.
 */
const neverMs = 2 ** 31 - 1;
const read = { p50: 50, p90: 90, p99: 99, max: 100 };

function measureEventLoop(registry: Registry): void {
  for (const name of ['min', 'mean', 'stddev', ...Object.keys(read)])
    registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`);
  for (const [name, percentile] of Object.entries(read))
    new Gauge({
      name: `nodejs_eventloop_lag_${name}_seconds`,
      help: `How late the event loop ran since the last collection, ${name}`,
      registers: [registry],
      collect() {
        this.set(delays.count === 0 ? 0 : delays.percentile(percentile) / 1e9);
        // The maximum is collected last, so all values of this interval have been read.
        if (name === 'max') delays.reset();
      },
    });
}

export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  measureEventLoop(registry);
  const rate = createRequestRate();
  new Gauge({
    name: 'natter_requests_per_second',
    help: 'Operations that this process began, per second over the last minute',
    registers: [registry],
    collect() {
      this.set(rate.perSecond());
    },
  });
  return {
    registry,
    began: rate.count,
    requestSeconds: new Histogram({
      name: 'natter_request_seconds',
      help: 'Time an operation took in this process',
      labelNames: ['operation', 'outcome'],
      buckets: latencyBuckets,
      registers: [registry],
    }),
    failuresAfterCommit: new Counter({
      name: 'natter_failures_after_commit_total',
      help: 'Failures of what follows a committed change, whose request succeeds nevertheless: each is a bug',
      registers: [registry],
    }),
    answersTooLarge: new Counter({
      name: 'natter_answers_too_large_total',
      help: 'Answers that were refused with 500 because they exceed 128 MiB: the operation lacks a bound of its own, which is a bug',
      labelNames: ['operation'],
      registers: [registry],
    }),
    natsUp: new Gauge({
      name: 'natter_nats_up',
      help: '1 while this process is connected to NATS',
      registers: [registry],
    }),
  };
}
