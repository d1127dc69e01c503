/**
 * Draws every dashboard from a real run: the whole system under load, scraped by a real Prometheus, while Redis is
 * killed and processes die. `npm run dashboards [seconds]` writes docs/operating/dashboards/*.svg.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCanary } from '@natter/canary';
import type { System } from '@natter/local/system';
import { dashboards } from '@natter/monitoring/definitions';
import { drawDashboard } from '@natter/monitoring/draw';
import { findPrometheus } from '@natter/monitoring/prometheus';
import { createLogger, createMetrics, startOperationsServer } from '@natter/service-kit';
import { request } from '../api.ts';
import { underDisturbance } from '../disturbance.ts';
import { openSystem } from '../open-system.ts';

const seconds = Number(process.argv[2] ?? 180);
const output = join(import.meta.dirname, '..', '..', 'docs', 'operating', 'dashboards');
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const command = await findPrometheus('prometheus');
if (command === undefined) {
  console.log('SKIPPED: the pictures of the dashboards: there is no Prometheus and no package to take it from');
  process.exit(0);
}
const home = await mkdtemp(join(tmpdir(), 'natter-dashboards-'));
const system = await openSystem({
  dataDir: join(home, 'system'),
  replicas: 2,
  log: (line) => console.log(`dashboards: ${line}`),
});
const metrics = createMetrics('canary');
const { email, api_key } = system.people.moderator;
const canary = startCanary(
  { url: system.url, email, apiKey: api_key, intervalMs: 1_000, patienceMs: 15_000 },
  createLogger('canary', 'fatal'),
  metrics,
);
const canaryPort = await startOperationsServer(
  '127.0.0.1',
  0,
  { isStarted: true, isDraining: false },
  metrics.registry,
);
const prometheus = await startPrometheus(command);
try {
  const start = Date.now() / 1000;
  const scheduling = scheduleMessages(system);
  const report = await underDisturbance(system, 12, async (tick) => {
    const part = (seconds * 1000) / 4;
    await pause(part);
    tick();
    await system.servers.redis.kill('SIGKILL');
    await pause(3_000);
    await system.servers.redis.start();
    await pause(part);
    for (const program of ['gateway', 'messaging', 'event-queue'] as const) {
      tick();
      system.children.find((child) => child.program === program)?.kill('SIGKILL');
      await pause(2_000);
    }
    await pause(part * 2 - 9_000);
  });
  await scheduling;
  console.log(`dashboards: ${report.acknowledged} acknowledged`, ...report.problems);
  const range = { start, end: Date.now() / 1000 };
  for (const dashboard of dashboards) {
    const file = join(output, `${dashboard.uid.replace('natter-', '')}.svg`);
    await writeFile(file, await drawDashboard(dashboard, prometheus.url, range));
    console.log(`dashboards: ${file}`);
  }
} finally {
  prometheus.stop();
  await canary.stop();
  await canaryPort.close();
  await system.stop();
  await rm(home, { recursive: true, force: true });
}
process.exit(0);

/** Schedules a few messages for each moment of the run. */
async function scheduleMessages({ url, people }: System): Promise<void> {
  const { body } = await request(url, people.member, 'GET /users/me/subscriptions');
  const to = body.subscriptions.find((channel: { name: string }) => channel.name === 'general').stream_id;
  for (let due = 10; due < seconds; due += 2) {
    const deliverAt = Math.floor(Date.now() / 1000) + due;
    const form = {
      type: 'channel',
      to,
      topic: 'later',
      content: `due ${due}`,
      scheduled_delivery_timestamp: deliverAt,
    };
    const scheduled = await request(url, people.member, 'POST /scheduled_messages', form);
    if (scheduled.status !== 200) throw new Error(JSON.stringify(scheduled.body));
  }
}

async function startPrometheus(binary: string): Promise<{ url: string; stop(): void }> {
  const targets = join(home, 'targets.json');
  const writeTargets = async (): Promise<void> => {
    const groups = system.children.map(({ program, index, operationsPort }) => ({
      targets: [`127.0.0.1:${operationsPort()}`],
      labels: { instance: `${program}-${index + 1}` },
    }));
    groups.push({ targets: [`127.0.0.1:${canaryPort.port}`], labels: { instance: 'canary-1' } });
    await writeFile(targets, JSON.stringify(groups));
  };
  await writeTargets();
  // A restarted process listens on another port.
  const refresh = setInterval(() => void writeTargets(), 500);
  const config = join(home, 'prometheus.yml');
  const job = {
    job_name: 'natter',
    honor_labels: true,
    file_sd_configs: [{ files: [targets], refresh_interval: '1s' }],
  };
  await writeFile(config, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: [job] }));
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(home, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(binary, args, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + 20_000; ; ) {
    const isReady = await fetch(`${url}/-/ready`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) break;
    if (Date.now() > deadline || child.exitCode !== null) throw new Error('Prometheus did not start');
    await pause(200);
  }
  return {
    url,
    stop: () => {
      clearInterval(refresh);
      child.kill();
    },
  };
}
