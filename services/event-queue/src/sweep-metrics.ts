import { Counter, Gauge, type Metrics } from '@natter/service-kit';

export interface SweepMetrics {
  swept(): void;
  /** Committed events that were missing in Redis at the time of the sweep, over all checked realms. */
  behind(events: number): void;
  alive(queues: number): void;
  expired(queues: number): void;
  epochBegan(): void;
}

/** Every replica sweeps and reports the same: take the maximum of the gauges over replicas. */
export function createSweepMetrics({ registry }: Metrics): SweepMetrics {
  const registers = [registry];
  const lag = new Gauge({ name: 'natter_log_lag_events', help: 'Committed events missing in Redis', registers });
  const last = new Gauge({
    name: 'natter_sweep_last_success_timestamp_seconds',
    help: 'When the last sweep over the streams ended',
    registers,
  });
  const alive = new Gauge({ name: 'natter_queues', help: 'Event queues that have not expired', registers });
  const expired = new Counter({ name: 'natter_queues_expired_total', help: 'Queues deleted by expiry', registers });
  const epochs = new Counter({
    name: 'natter_epochs_begun_total',
    help: 'Times that Postgres was found behind the log, so that the queues of a realm ended',
    registers,
  });
  return {
    swept: () => last.setToCurrentTime(),
    behind: (events) => lag.set(events),
    alive: (queues) => alive.set(queues),
    expired: (queues) => expired.inc(queues),
    epochBegan: () => epochs.inc(),
  };
}
