import type { LogEntry } from '@natter/contracts';
import { Counter, Gauge, Histogram, type Metrics } from '@natter/service-kit';

const deliveryBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 1, 2, 5, 10, 30, 60];

export interface GatewayMetrics {
  /** An entry of the log was added to the response of a client that follows its queue. */
  delivered(entry: Pick<LogEntry, 'n' | 'at'>): void;
  /** A request was answered, or its client disconnected before. Polls have their own operation name. */
  answered(operation: string, status: number | 'cancelled', milliseconds: number): void;
  /** This gateway closed a connection because of a limit. */
  cut(reason: CutReason): void;
}

export type CutReason = 'address' | 'pipelined' | 'stalled' | 'malformed' | 'unread' | 'discarded' | 'slow';

export function createGatewayMetrics(
  { registry }: Metrics,
  now: Record<
    'heldPolls' | 'logBytes' | 'bodyBytes' | 'answerBytes' | 'requestsInFlight' | 'requestsWaiting',
    () => number
  >,
): GatewayMetrics {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  gauge('natter_held_polls', 'Polls held open', now.heldPolls);
  gauge(
    'natter_log_memory_bytes',
    'Memory of the recent events that are kept for polls, and of their texts for clients',
    now.logBytes,
  );
  gauge('natter_request_body_bytes', 'Memory that bodies of requests occupy', now.bodyBytes);
  gauge(
    'natter_unread_answer_bytes',
    'Memory that responses occupy until their clients have read them',
    now.answerBytes,
  );
  gauge('natter_requests_in_flight', 'Requests, polls aside, that a service works on', now.requestsInFlight);
  gauge(
    'natter_requests_waiting',
    'Requests that wait for their turn, because the system is busy or their organization uses more than its share',
    now.requestsWaiting,
  );
  const cuts = new Counter({
    name: 'natter_connections_cut_total',
    help: 'Connections that were closed because of a limit: too many of an address, stalled, malformed, too much unread, a slow body whose memory is needed',
    labelNames: ['reason'],
    registers: [registry],
  });
  const delivery = new Histogram({
    name: 'natter_delivery_seconds',
    help: 'From the commit of an event (the clock of Postgres) to its place in the answer to a client that follows',
    labelNames: ['kind'],
    buckets: deliveryBuckets,
    registers: [registry],
  });
  const requests = new Histogram({
    name: 'natter_http_request_seconds',
    help: 'From the end of the headers of a request to the end of its answer, or to the hang-up of its client (status cancelled)',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  return {
    delivered: ({ n, at }) =>
      delivery.observe({ kind: n === 0 ? 'durable' : 'ephemeral' }, Math.max(0, (Date.now() - at) / 1000)),
    cut: (reason) => cuts.inc({ reason }),
    answered: (operation, status, milliseconds) => requests.observe({ operation, status }, milliseconds / 1000),
  };
}
