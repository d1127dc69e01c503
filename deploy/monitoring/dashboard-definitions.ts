/** The content of the dashboards. `npm run ts deploy/monitoring/generate.ts` generates Grafana's JSON from it. */
export interface Panel {
  title: string;
  /** How to interpret the panel. */
  description: string;
  unit: 's' | 'short' | 'reqps' | 'bytes' | 'percentunit' | 'ops';
  /** `stat` shows one number, red above `alarmAbove`. */
  kind: 'graph' | 'stat';
  queries: { expr: string; legend: string }[];
  alarmAbove?: number;
  /** The width in columns; a row has 24. */
  width: number;
}

export interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
}

/** In each selector of a query. The value of all namespaces, `.*`, also matches metrics without this label. */
export const inNamespace = 'namespace=~"$namespace"';

const quantiles = (metric: string, filter: string, by = ''): Panel['queries'] =>
  [0.5, 0.95, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (le${by}) (rate(${metric}_bucket{${filter}}[$__rate_interval])))`,
    legend: `p${quantile * 100}`,
  }));
const graph = (title: string, unit: Panel['unit'], description: string, queries: Panel['queries']): Panel => ({
  title,
  description,
  unit,
  kind: 'graph',
  queries,
  width: 12,
});
const stat = (title: string, description: string, expr: string, alarmAbove: number): Panel => ({
  title,
  description,
  unit: 'short',
  kind: 'stat',
  queries: [{ expr, legend: title }],
  alarmAbove,
  width: 6,
});
const one = (expr: string, legend: string): Panel['queries'] => [{ expr, legend }];

const overview: Dashboard = {
  uid: 'natter-overview',
  title: 'Natter / Overview',
  panels: [
    graph(
      'From commit to client',
      's',
      'What a user feels: an event is in the answer of a client that follows.',
      quantiles('natter_delivery_seconds', 'kind="durable"'),
    ),
    graph(
      'Canary: from send to receipt',
      's',
      'The same, measured from outside through the way that clients take.',
      quantiles('natter_canary_delivery_seconds', ''),
    ),
    stat('Acknowledged but undelivered', 'Must be 0.', 'max(natter_canary_undelivered)', 0),
    stat(
      'Doubled, reordered, queues lost',
      'Must be 0.',
      'sum(natter_canary_doubled_total) + sum(natter_canary_reordered_total) + sum(natter_canary_queues_lost_total)',
      0,
    ),
    stat(
      'Events missing in Redis',
      'Committed and not yet in the log that gateways read.',
      'max(natter_log_lag_events)',
      100,
    ),
    stat(
      'Parked events',
      'What a consumer could not handle.',
      'sum(max by (service, consumer) (natter_parked_events))',
      0,
    ),
    graph('Queues', 'short', 'Queues that live, and polls that are held.', [
      { expr: 'max(natter_queues)', legend: 'queues' },
      { expr: 'sum(natter_held_polls)', legend: 'held polls' },
    ]),
    graph('Log lag', 'short', 'Committed events missing in Redis.', one('max(natter_log_lag_events)', 'events')),
    graph(
      'Consumers',
      's',
      'Age of the oldest event that waits for a consumer.',
      one('max by (service, consumer) (natter_consumer_lag_seconds)', '{{service}} {{consumer}}'),
    ),
    graph(
      'Scheduler lateness',
      's',
      'How late scheduled messages are sent.',
      quantiles('natter_scheduler_lateness_seconds', ''),
    ),
    graph(
      'Requests',
      'reqps',
      'Answered by the gateways, without polls.',
      one(
        'sum by (status) (rate(natter_http_request_seconds_count{operation!="get-events"}[$__rate_interval]))',
        '{{status}}',
      ),
    ),
    graph(
      'Time of requests',
      's',
      'At the gateways, without polls.',
      quantiles('natter_http_request_seconds', 'operation!="get-events"'),
    ),
    graph('Servers', 'short', '1: every service reaches it.', [
      { expr: 'min(natter_postgres_up)', legend: 'Postgres' },
      { expr: 'min(natter_redis_up)', legend: 'Redis' },
      { expr: 'min(natter_nats_up{service!="canary"})', legend: 'NATS' },
    ]),
  ],
};

/** Panels of every process. */
const process = (service: string): Panel[] =>
  [
    graph(
      'Processor',
      'short',
      'Cores used, by process.',
      one(`rate(process_cpu_seconds_total{service="${service}"}[$__rate_interval])`, '{{instance}}'),
    ),
    graph(
      'Memory',
      'bytes',
      'Resident, by process.',
      one(`process_resident_memory_bytes{service="${service}"}`, '{{instance}}'),
    ),
    graph(
      'Event loop',
      's',
      'How long a process was busy at a time (p99).',
      one(`nodejs_eventloop_lag_p99_seconds{service="${service}"}`, '{{instance}}'),
    ),
  ].map((panel) => ({ ...panel, width: 8 }));

const operations = (service: string): Panel[] => [
  graph(
    'Requests',
    'reqps',
    'By operation.',
    one(
      `sum by (operation) (rate(natter_request_seconds_count{service="${service}"}[$__rate_interval]))`,
      '{{operation}}',
    ),
  ),
  graph(
    'Time',
    's',
    'p99 by operation.',
    one(
      `histogram_quantile(0.99, sum by (le, operation) (rate(natter_request_seconds_bucket{service="${service}"}[$__rate_interval])))`,
      '{{operation}}',
    ),
  ),
  graph(
    'Refusals and failures',
    'reqps',
    'By outcome, without success and without requests that their callers gave up.',
    one(
      `sum by (outcome) (rate(natter_request_seconds_count{service="${service}",outcome!~"success|CANCELLED"}[$__rate_interval]))`,
      '{{outcome}}',
    ),
  ),
];

const tables = (service: string): Panel[] => [
  graph(
    'Connections to Postgres',
    'short',
    'Waiting should stay at 0.',
    one(`sum by (state) (natter_postgres_connections{service="${service}"})`, '{{state}}'),
  ),
  graph(
    'Consumers',
    's',
    'Age of the oldest event that waits.',
    one(`max by (consumer) (natter_consumer_lag_seconds{service="${service}"})`, '{{consumer}}'),
  ),
];

const owner = (service: string, own: Panel[] = []): Dashboard => ({
  uid: `natter-${service}`,
  title: `Natter / ${service}`,
  panels: [...own, ...operations(service), ...tables(service), ...process(service)],
});

const definitions: readonly Dashboard[] = [
  overview,
  {
    uid: 'natter-gateway',
    title: 'Natter / gateway',
    panels: [
      graph(
        'Held polls',
        'short',
        'By process: what gateways are scaled by.',
        one('sum by (instance) (natter_held_polls)', '{{instance}}'),
      ),
      graph(
        'From commit to client',
        's',
        'By kind of event, p99.',
        one(
          'histogram_quantile(0.99, sum by (le, kind) (rate(natter_delivery_seconds_bucket[$__rate_interval])))',
          '{{kind}}',
        ),
      ),
      graph(
        'Events delivered',
        'ops',
        'In answers to clients that follow.',
        one('sum by (kind) (rate(natter_delivery_seconds_count[$__rate_interval]))', '{{kind}}'),
      ),
      graph(
        'Requests',
        'reqps',
        'By operation.',
        one('sum by (operation) (rate(natter_http_request_seconds_count[$__rate_interval]))', '{{operation}}'),
      ),
      graph(
        'Answers',
        'reqps',
        'By status.',
        one('sum by (status) (rate(natter_http_request_seconds_count[$__rate_interval]))', '{{status}}'),
      ),
      graph(
        'Time',
        's',
        'p99 by operation, without polls.',
        one(
          'histogram_quantile(0.99, sum by (le, operation) (rate(natter_http_request_seconds_bucket{operation!="get-events"}[$__rate_interval])))',
          '{{operation}}',
        ),
      ),
      ...process('gateway'),
    ],
  },
  owner('users'),
  owner('channels'),
  owner('messaging'),
  owner('scheduler', [
    graph('Lateness', 's', 'How late scheduled messages are sent.', quantiles('natter_scheduler_lateness_seconds', '')),
    graph(
      'Sent',
      'ops',
      'Scheduled messages that were due.',
      one('sum(rate(natter_scheduler_lateness_seconds_count[$__rate_interval]))', 'sent'),
    ),
    graph(
      'Outgoing webhooks',
      'ops',
      'Messages posted to bots, by outcome.',
      one('sum by (outcome) (rate(natter_outgoing_webhook_deliveries_total[$__rate_interval]))', '{{outcome}}'),
    ),
  ]),
  owner('presence'),
  owner('event-queue', [
    graph('Queues', 'short', 'Queues that live.', one('max(natter_queues)', 'queues')),
    graph(
      'Expired',
      'ops',
      'Queues deleted by expiry.',
      one('sum(rate(natter_queues_expired_total[$__rate_interval]))', 'expired'),
    ),
    graph('Log lag', 'short', 'Committed events missing in Redis.', one('max(natter_log_lag_events)', 'events')),
    graph(
      'Epochs',
      'short',
      'Times that Postgres was found behind the log.',
      one('sum(natter_epochs_begun_total)', 'epochs'),
    ),
  ]),
];

const ofNamespace = (expr: string): string =>
  expr.replace(/\b((?:natter|process|nodejs)_\w+)(?:\{(.*?)\})?/g, (_, metric: string, filter = '') => {
    const filters = filter === '' ? [inNamespace] : [inNamespace, filter];
    return `${metric}{${filters.join(',')}}`;
  });

const withNamespace = (panel: Panel): Panel => ({
  ...panel,
  queries: panel.queries.map((query) => ({ ...query, expr: ofNamespace(query.expr) })),
});

export const dashboards: readonly Dashboard[] = definitions.map((dashboard) => ({
  ...dashboard,
  panels: dashboard.panels.map(withNamespace),
}));
