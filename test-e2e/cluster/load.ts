/** Starts the pods of load.mjs on one node, and reads their counters. */
import { join } from 'node:path';
import type { User } from './client.ts';
import { kubectl, namesOf, step, until } from './kubernetes.ts';
import { containerSecurity, current, host, natter, podSecurity } from './release.ts';

export interface Counters {
  requests: number;
  failed: number;
  delivered: number;
  doubled: number;
  reordered: number;
  queuesLost: number;
  undelivered: number;
}
interface Line {
  at: string;
  counters?: Counters;
  failure?: string;
  lost?: string;
  afterMs?: number;
}

const label = 'natter-test=load';

/** A new user of the default realm. */
export function createUser(): User {
  const email = `load-${Date.now()}@${host}`;
  const made = natter('key', 'create', '--host', host, '--email', email, '--create-role', 'member');
  return { email, key: /api_key: (\w+)/.exec(made)?.[1] ?? '' };
}

/** Starts pods, each with a user of its own. Settings are those of load.mjs. */
export function startLoad(
  { pods, node }: { pods: number; node?: string | undefined },
  settings: Record<string, string> = {},
): void {
  kubectl(['delete', 'configmap', 'load', '--ignore-not-found']);
  kubectl(['create', 'configmap', 'load', `--from-file=${join(import.meta.dirname, 'load.mjs')}`]);
  // Connects to an IP address, because the DNS of the cluster is not measured.
  const address = kubectl(['get', 'service', 'natter-gateway', '-o', 'jsonpath={.spec.clusterIP}']);
  const containerOf = ({ email, key }: User): object => ({
    name: 'load',
    image: current.image,
    command: ['/usr/local/bin/node', '/load/load.mjs'],
    env: Object.entries({
      LOAD_URL: `http://${address}`,
      LOAD_EMAIL: email,
      LOAD_KEY: key,
      ...settings,
    }).map(([name, value]) => ({ name, value })),
    resources: { requests: { cpu: '10m', memory: '64Mi' } },
    securityContext: containerSecurity,
    volumeMounts: [{ name: 'load', mountPath: '/load' }],
  });
  const base = namesOf('pods', label).length;
  for (let index = 0; index < pods; index += 1) {
    const spec = {
      restartPolicy: 'Never',
      securityContext: podSecurity,
      ...(node === undefined ? {} : { nodeSelector: { 'kubernetes.io/hostname': node } }),
      containers: [containerOf(createUser())],
      volumes: [{ name: 'load', configMap: { name: 'load' } }],
    };
    const metadata = { name: `load-${base + index}`, labels: { 'natter-test': 'load' } };
    kubectl(['apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }) });
  }
}

const deleteNow = ['--grace-period=0', '--force', '--ignore-not-found'];

export function stopLoad(): void {
  kubectl(['delete', 'pods', '-l', label, ...deleteNow], { mayFail: true });
  seenOf.clear();
}

/** Ends every pod of the load but the first. */
export function stopAllButFirst(): void {
  const others = namesOf('pods', label).filter((name) => name !== 'load-0');
  kubectl(['delete', 'pods', ...others, ...deleteNow]);
}

/** The last counters of each pod, for the case that its log cannot be read. */
const seenOf = new Map<string, Counters>();

const linesOf = (pod: string, args: string[] = []): Line[] =>
  kubectl(['logs', pod, ...args], { mayFail: true })
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

/** The sum of the counters of all pods. */
export function counters(): Counters {
  const sum: Counters = {
    requests: 0,
    failed: 0,
    delivered: 0,
    doubled: 0,
    reordered: 0,
    queuesLost: 0,
    undelivered: 0,
  };
  for (const pod of namesOf('pods', label)) {
    const last = linesOf(pod, ['--tail=50'])
      .map(({ counters: seen }) => seen)
      .filter((seen) => seen !== undefined)
      .at(-1);
    if (last) seenOf.set(pod, last);
    for (const name of Object.keys(sum) as (keyof Counters)[]) sum[name] += seenOf.get(pod)?.[name] ?? 0;
  }
  return sum;
}

/** Waits until so many more messages were delivered: the load runs. */
export async function untilDelivered(count: number): Promise<void> {
  const before = counters().delivered;
  await until(`${count} deliveries`, 120, () => counters().delivered >= before + count);
}

const failures = (): Line[] =>
  namesOf('pods', label)
    .flatMap((pod) => linesOf(pod).filter(({ failure, lost }) => failure !== undefined || lost !== undefined))
    .sort((a, b) => a.at.localeCompare(b.at));

/** Throws if any request failed, or any message was lost, doubled or reordered since `since`. */
export function checkNone(when: string, since: Counters): void {
  const now = counters();
  const bad = (['failed', 'doubled', 'reordered', 'queuesLost', 'undelivered'] as const).filter(
    (name) => now[name] > since[name],
  );
  console.log(`${when}: ${now.requests} requests, ${now.delivered} deliveries, ${now.failed} failed`);
  if (bad.length === 0) return;
  const text = failures()
    .slice(-40)
    .map((line) => JSON.stringify(line))
    .join('\n');
  throw new Error(`${when}: ${JSON.stringify(now)}\n${text}`);
}

/**
 * Reports the failures of a fault that may cost requests: their number, and the time from the first to the last. Polls
 * on a lost connection end only with their deadline, so what they bring is waited for.
 */
async function reportFailures(what: string, since: string, before: Counters): Promise<void> {
  await until(`${what}: all deliveries`, 240, () => counters().undelivered <= before.undelivered);
  const now = counters();
  const seen = failures().filter(({ at, failure }) => failure !== undefined && at >= since);
  const [first, last] = [seen[0], seen.at(-1)];
  const duration = first && last ? (Date.parse(last.at) - Date.parse(first.at)) / 1_000 : 0;
  const requests = now.requests - before.requests;
  console.log(`${what}: ${seen.length} of ${requests} requests failed, within ${duration.toFixed(1)} s`);
  const kinds = new Map<string, number>();
  for (const { failure = '' } of seen) kinds.set(failure, (kinds.get(failure) ?? 0) + 1);
  for (const [failure, count] of kinds) console.log(`  ${count} × ${failure}`);
  for (const name of ['doubled', 'reordered', 'queuesLost'] as const)
    if (now[name] !== before[name]) throw new Error(`${what}: ${name} ${now[name] - before[name]}`);
}

/** Runs a fault that may cost requests, which are counted until everything works again. */
export async function countFailures(what: string, fault: () => Promise<string>): Promise<void> {
  step(what);
  const [before, since] = [counters(), new Date().toISOString()];
  const seen = await fault();
  await untilDelivered(50);
  await reportFailures(`${what}${seen}`, since, before);
}
