import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { dashboards, inNamespace } from './dashboard-definitions.ts';
import { fileOf, grafana } from './generate.ts';
import { findPrometheus } from './prometheus-binaries.ts';

interface Rule {
  alert: string;
  labels: Record<string, string>;
  annotations: { summary: string; runbook_url: string };
}
const rulesFile = join(import.meta.dirname, '..', 'helm', 'natter', 'files', 'rules.yaml');
const runbooks = 'https://github.com/natter-chat/natter/blob/main/docs/operating/runbooks/';
const root = join(import.meta.dirname, '..', '..');
const rules = (parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const promtool = await findPrometheus('promtool');
const services = ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'];

/** A healthy system, with a sample each 15 s for half an hour. */
const healthy: Record<string, string> = {
  'natter_canary_undelivered{service="canary"}': '0x120',
  'natter_canary_doubled_total{service="canary"}': '0x120',
  'natter_canary_reordered_total{service="canary"}': '0x120',
  'natter_canary_queues_lost_total{service="canary"}': '0x120',
  'natter_canary_last_delivery_timestamp_seconds{service="canary"}': '0+15x120',
  'natter_delivery_seconds_bucket{service="gateway",kind="durable",le="0.1"}': '0+100x120',
  'natter_delivery_seconds_bucket{service="gateway",kind="durable",le="1"}': '0+100x120',
  'natter_delivery_seconds_bucket{service="gateway",kind="durable",le="+Inf"}': '0+100x120',
  'natter_http_request_seconds_count{service="gateway",operation="send-message",status="200"}': '0+1000x120',
  'natter_http_request_seconds_count{service="gateway",operation="send-message",status="503"}': '0+1x120',
  'natter_http_request_seconds_bucket{service="gateway",operation="send-message",status="200",le="1"}': '0+1000x120',
  'natter_http_request_seconds_bucket{service="gateway",operation="send-message",status="200",le="5"}': '0+1000x120',
  'natter_http_request_seconds_bucket{service="gateway",operation="send-message",status="200",le="+Inf"}': '0+1000x120',
  // Polls are held.
  'natter_http_request_seconds_bucket{service="gateway",operation="get-events",status="200",le="30"}': '0x120',
  'natter_http_request_seconds_bucket{service="gateway",operation="get-events",status="200",le="60"}': '0+1000x120',
  'natter_http_request_seconds_bucket{service="gateway",operation="get-events",status="200",le="+Inf"}': '0+1000x120',
  'natter_mails_total{service="users",outcome="failed"}': '0x120',
  'natter_mails_total{service="users",outcome="off"}': '0+1x120',
  'redis_memory_used_bytes{instance="r"}': '500x120',
  'redis_memory_max_bytes{instance="r"}': '1000x120',
  // Without a limit.
  'redis_memory_used_bytes{instance="s"}': '500x120',
  'redis_memory_max_bytes{instance="s"}': '0x120',
  'kubelet_volume_stats_available_bytes{persistentvolumeclaim="data"}': '600x120',
  'kubelet_volume_stats_capacity_bytes{persistentvolumeclaim="data"}': '1000x120',
  // Series of another installation: no alert fires for them.
  'kubelet_volume_stats_available_bytes{namespace="other",persistentvolumeclaim="data"}': '1x120',
  'kubelet_volume_stats_capacity_bytes{namespace="other",persistentvolumeclaim="data"}': '1000x120',
  'nodejs_eventloop_lag_p99_seconds{namespace="other",service="users",instance="o"}': '0.9x120',
  'process_start_time_seconds{namespace="other",service="users",instance="o"}': '100x80 200x8 300x8 400x8 500x8 600x8',
  // A series of another program in the same namespace.
  'nodejs_eventloop_lag_p99_seconds{service="shop",instance="o"}': '0.9x120',
  'node_filesystem_avail_bytes{job="natter-machine",instance="m",fstype="ext4",mountpoint="/"}': '600x120',
  'node_filesystem_size_bytes{job="natter-machine",instance="m",fstype="ext4",mountpoint="/"}': '1000x120',
  'natter_log_lag_events{service="event-queue",instance="a"}': '0 3 0 0 9 0x115',
  'natter_sweep_last_success_timestamp_seconds{service="event-queue",instance="a"}': '0+15x120',
  'natter_log_held_back{service="event-queue",instance="a"}': '0x120',
  'natter_epochs_begun_total{service="event-queue"}': '0x120',
  'natter_consumer_lag_seconds{service="channels",consumer="people"}': '0x120',
  'natter_consumer_failing_seconds{service="channels",consumer="people"}': '0 20 0 45 0x116',
  'natter_parked_events{service="channels",consumer="people"}': '0x120',
  'natter_scheduler_lateness_seconds_bucket{service="scheduler",le="1"}': '0+10x120',
  'natter_scheduler_lateness_seconds_bucket{service="scheduler",le="30"}': '0+10x120',
  'natter_scheduler_lateness_seconds_bucket{service="scheduler",le="+Inf"}': '0+10x120',
  'natter_postgres_up{service="users",instance="a"}': '1x120',
  'natter_redis_up{service="users",instance="a"}': '1x120',
  'natter_postgres_connections{service="users",instance="a",state="waiting"}': '0 4 0x118',
  'nodejs_eventloop_lag_p99_seconds{service="users",instance="a"}': '0.02x120',
  'process_start_time_seconds{service="users",instance="a"}': '100x120',
  ...Object.fromEntries(
    services.flatMap((service) =>
      ['a', 'b'].map((instance) => [`natter_nats_up{service="${service}",instance="${instance}"}`, '1x120']),
    ),
  ),
};

/** The cause of each alert, and the labels of the alert. A series without values is removed. */
const causes: Record<string, { series: Record<string, string | undefined>; labels?: Record<string, string> }> = {
  NatterAcknowledgedButUndelivered: { series: { 'natter_canary_undelivered{service="canary"}': '0x20 1x100' } },
  NatterDoubledOrReordered: { series: { 'natter_canary_doubled_total{service="canary"}': '0x100 1x20' } },
  NatterCanaryQueueLost: { series: { 'natter_canary_queues_lost_total{service="canary"}': '0x100 1x20' } },
  NatterCanarySilent: {
    series: { 'natter_canary_last_delivery_timestamp_seconds{service="canary"}': '0+15x80 1200x40' },
  },
  NatterDeliverySlow: {
    series: { 'natter_delivery_seconds_bucket{service="gateway",kind="durable",le="0.1"}': '0+50x120' },
  },
  NatterErrors: {
    series: {
      'natter_http_request_seconds_count{service="gateway",operation="send-message",status="503"}': '0+30x120',
    },
  },
  NatterRequestsSlow: {
    series: {
      'natter_http_request_seconds_bucket{service="gateway",operation="send-message",status="200",le="1"}': '0+900x120',
    },
  },
  NatterMailNotSent: { series: { 'natter_mails_total{service="users",outcome="failed"}': '0x100 1x20' } },
  NatterRedisFull: { series: { 'redis_memory_used_bytes{instance="r"}': '500x40 900x80' } },
  NatterVolumeFull: {
    series: { 'kubelet_volume_stats_available_bytes{persistentvolumeclaim="data"}': '600x40 100x80' },
    labels: { persistentvolumeclaim: 'data' },
  },
  NatterDiskFull: {
    series: {
      'node_filesystem_avail_bytes{job="natter-machine",instance="m",fstype="ext4",mountpoint="/"}': '600x40 100x80',
    },
    labels: { instance: 'm', mountpoint: '/' },
  },
  NatterUnhandledError: {
    series: { 'natter_unhandled_errors_total{service="users",kind="rejection"}': '0x100 1x20' },
    labels: { service: 'users', kind: 'rejection' },
  },
  NatterLogLagging: { series: { 'natter_log_lag_events{service="event-queue",instance="a"}': '0x80 12x40' } },
  NatterSweepStopped: {
    series: { 'natter_sweep_last_success_timestamp_seconds{service="event-queue",instance="a"}': '0+15x80 1200x40' },
  },
  NatterEpochBegun: { series: { 'natter_epochs_begun_total{service="event-queue"}': '0x100 1x20' } },
  NatterConsumerLagging: {
    series: { 'natter_consumer_lag_seconds{service="channels",consumer="people"}': '0x20 5000x100' },
    labels: { service: 'channels', consumer: 'people' },
  },
  NatterConsumerFailing: {
    series: { 'natter_consumer_failing_seconds{service="channels",consumer="people"}': '0x20 0+15x100' },
    labels: { service: 'channels', consumer: 'people' },
  },
  NatterEventParked: {
    series: { 'natter_parked_events{service="channels",consumer="people"}': '0x20 1x100' },
    labels: { service: 'channels', consumer: 'people' },
  },
  NatterLogHeldBack: {
    series: { 'natter_log_held_back{service="event-queue",instance="a"}': '0x20 1x100' },
  },
  NatterSchedulerLate: {
    series: { 'natter_scheduler_lateness_seconds_bucket{service="scheduler",le="1"}': '0+5x120' },
  },
  NatterPostgresAway: {
    series: { 'natter_postgres_up{service="users",instance="a"}': '1x80 0x40' },
    labels: { service: 'users' },
  },
  NatterRedisAway: {
    series: { 'natter_redis_up{service="users",instance="a"}': '1x80 0x40' },
    labels: { service: 'users' },
  },
  NatterNatsAway: {
    series: {
      'natter_nats_up{service="users",instance="a"}': '1x80 0x40',
      'natter_nats_up{service="users",instance="b"}': '1x80 0x40',
    },
    labels: { service: 'users' },
  },
  NatterConnectionsExhausted: {
    series: { 'natter_postgres_connections{service="users",instance="a",state="waiting"}': '0x80 7x40' },
    labels: { service: 'users' },
  },
  NatterServiceMissing: {
    series: {
      'natter_nats_up{service="presence",instance="a"}': undefined,
      'natter_nats_up{service="presence",instance="b"}': undefined,
    },
    labels: { service: 'presence' },
  },
  NatterNoSpare: {
    series: { 'natter_nats_up{service="users",instance="b"}': undefined },
    labels: { service: 'users' },
  },
  NatterEventLoopBlocked: {
    series: { 'nodejs_eventloop_lag_p99_seconds{service="users",instance="a"}': '0.02x20 0.9x100' },
    labels: { service: 'users', instance: 'a' },
  },
  NatterRestarting: {
    series: { 'process_start_time_seconds{service="users",instance="a"}': '100x80 200x8 300x8 400x8 500x8 600x8' },
    labels: { service: 'users', instance: 'a' },
  },
};

const directory = mkdtempSync(join(tmpdir(), 'natter-rules-'));
afterAll(() => rmSync(directory, { recursive: true }));

function promtoolTest(
  name: string,
  series: Record<string, string | undefined>,
  expected: { rule: Rule; labels: Record<string, string> }[],
) {
  const file = join(directory, `${name}.yaml`);
  const input = Object.entries(series).flatMap(([key, values]) =>
    values === undefined ? [] : [{ series: key, values }],
  );
  const alertTests = rules.map((rule) => ({
    eval_time: '29m',
    alertname: rule.alert,
    exp_alerts: expected
      .filter((one) => one.rule === rule)
      .map(({ labels }) => ({ exp_labels: { ...rule.labels, ...labels }, exp_annotations: rule.annotations })),
  }));
  const tests = [{ interval: '15s', input_series: input, alert_rule_test: alertTests }];
  writeFileSync(file, stringify({ rule_files: [rulesFile], evaluation_interval: '15s', tests }));
  return spawnSync(promtool ?? '', ['test', 'rules', file], { encoding: 'utf8' });
}

/** Two installations that one Prometheus watches. The disks of a machine are in no namespace. */
const seriesIn = (name: string, series: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(series).flatMap(([key, values]) => {
      if (key.includes('namespace=')) return [];
      return [[key.startsWith('node_') ? key : key.replace('{', `{namespace="${name}",`), values]];
    }),
  );

describe.skipIf(promtool === undefined)(
  promtool ? 'among the alert rules' : 'among the alert rules: SKIPPED: there is no promtool',
  () => {
    test('none fires in a healthy system', () => {
      const { status, stdout, stderr } = promtoolTest('healthy', healthy, []);
      expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
    });

    test.each(rules.map((rule) => [rule.alert, rule] as const))(
      'only %s fires for its cause, with the namespace of the cause',
      (name, rule) => {
        const cause = causes[name];
        if (!cause) throw new Error(`no test causes ${name}`);
        const series = { ...seriesIn('a', healthy), ...seriesIn('b', { ...healthy, ...cause.series }) };
        const labels = { ...cause.labels, ...(name === 'NatterDiskFull' ? {} : { namespace: 'b' }) };
        const result = promtoolTest(name, series, [{ rule, labels }]);
        expect([result.status, result.status === 0 ? '' : result.stdout + result.stderr]).toEqual([0, '']);
      },
    );

    test.each(['NatterErrors', 'NatterRedisFull', 'NatterServiceMissing'])('%s fires without namespaces', (name) => {
      const [cause, rule] = [causes[name], rules.find(({ alert }) => alert === name)];
      if (!cause || !rule) throw new Error(`no test causes ${name}`);
      const result = promtoolTest(`alone-${name}`, { ...healthy, ...cause.series }, [
        { rule, labels: cause.labels ?? {} },
      ]);
      expect([result.status, result.status === 0 ? '' : result.stdout + result.stderr]).toEqual([0, '']);
    });
  },
);

describe('the monitoring', () => {
  test('has a runbook for each alert and no other runbooks', () => {
    for (const { alert, annotations } of rules) {
      const page = join(root, 'docs', 'operating', 'runbooks', `${alert}.md`);
      expect(annotations.runbook_url).toBe(`${runbooks}${alert}.md`);
      expect(existsSync(page), page).toBe(true);
      expect(readFileSync(page, 'utf8')).toContain(`# ${alert}`);
    }
    expect(Object.keys(causes).sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });

  test('has exactly the dashboards of its definitions', () => {
    for (const dashboard of dashboards)
      expect(readFileSync(fileOf(dashboard), 'utf8'), dashboard.uid).toBe(grafana(dashboard));
  });

  test('shows in each panel only the namespaces that the dashboard selects', () => {
    for (const dashboard of dashboards) {
      const { templating } = JSON.parse(grafana(dashboard)) as { templating: { list: Record<string, unknown>[] } };
      expect(templating.list, dashboard.uid).toContainEqual(
        expect.objectContaining({ name: 'namespace', includeAll: true, allValue: '.*' }),
      );
      for (const { expr } of dashboard.panels.flatMap(({ queries }) => queries)) {
        const rest = expr.replaceAll(/\{(.*?)\}/g, (_, filter: string) => (filter.includes(inNamespace) ? '{}' : ''));
        // Metrics: names with underscores that are no functions.
        const selectors = [...rest.matchAll(/\b[a-z]+(?:_[a-z0-9]+)+\b(?!\()(?:\{\})?/g)].map(([selector]) => selector);
        expect(selectors.length, expr).toBeGreaterThan(0);
        for (const selector of selectors) expect(selector, expr).toContain('{}');
      }
    }
  });

  test('queries only metrics that a process exports', () => {
    const asked = [readFileSync(rulesFile, 'utf8'), JSON.stringify(dashboards)]
      .join('\n')
      .matchAll(/\bnatter_[a-z_]+/g);
    const names = new Set([...asked].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')));
    const sources = globSync('{libs,services,deploy/canary}/**/*.ts', {
      cwd: root,
      exclude: (name) => name === 'node_modules' || name === 'dist',
    }).map((file) => readFileSync(join(root, file), 'utf8'));
    const given = new Set(
      sources.flatMap((source) => [...source.matchAll(/(?:name: |\()'(natter_[a-z_]*)'/g)].map(([, name]) => name)),
    );
    expect([...names].filter((name) => !given.has(name))).toEqual(
      given.has('natter_scheduler_lateness_seconds') ? [] : ['natter_scheduler_lateness_seconds'],
    );
  });
});
