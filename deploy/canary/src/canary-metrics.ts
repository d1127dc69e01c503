import { Counter, Gauge, Histogram, type Metrics } from '@natter/service-kit';

export interface CanaryMetrics {
  sent(outcome: 'acknowledged' | 'refused' | 'unknown'): void;
  delivered(seconds: number): void;
  doubled(): void;
  reordered(): void;
  queueLost(): void;
  polled(outcome: 'answered' | 'failed'): void;
}

/** The system as users experience it, measured from outside over HTTP. */
export function createCanaryMetrics({ registry }: Metrics, undelivered: () => number): CanaryMetrics {
  const registers = [registry];
  const sends = new Counter({
    name: 'natter_canary_sends_total',
    help: 'Messages that the canary sent, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  const delivery = new Histogram({
    name: 'natter_canary_delivery_seconds',
    help: 'From the request that sends a message to its event in the hands of its receiver',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 10, 30, 60],
    registers,
  });
  const last = new Gauge({
    name: 'natter_canary_last_delivery_timestamp_seconds',
    help: 'When the canary last received one of its messages',
    registers,
  });
  const doubled = new Counter({ name: 'natter_canary_doubled_total', help: 'Messages that came twice', registers });
  const reordered = new Counter({
    name: 'natter_canary_reordered_total',
    help: 'Messages that came after one with a higher id',
    registers,
  });
  const lost = new Counter({
    name: 'natter_canary_queues_lost_total',
    help: 'Times that the server no longer knew the queue of the canary',
    registers,
  });
  new Gauge({
    name: 'natter_canary_undelivered',
    help: 'Messages acknowledged a while ago that have not come',
    registers,
    collect() {
      this.set(undelivered());
    },
  });
  const polls = new Counter({
    name: 'natter_canary_polls_total',
    help: 'Polls of the canary, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['answered', 'failed']) polls.inc({ outcome }, 0);
  for (const outcome of ['acknowledged', 'refused', 'unknown']) sends.inc({ outcome }, 0);
  return {
    sent: (outcome) => sends.inc({ outcome }),
    delivered: (seconds) => {
      delivery.observe(seconds);
      last.setToCurrentTime();
    },
    doubled: () => doubled.inc(),
    reordered: () => reordered.inc(),
    queueLost: () => lost.inc(),
    polled: (outcome) => polls.inc({ outcome }),
  };
}
