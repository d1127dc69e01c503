import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
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

export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
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
