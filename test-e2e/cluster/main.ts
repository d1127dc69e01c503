/**
 * Install, upgrade under load, scale and uninstall on the cluster that KUBECONFIG names, with canaries as the load: none of
 * their requests may fail. NATTER_IMAGE names an image that the cluster can pull, NATTER_PREVIOUS_IMAGE what is upgraded from.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { helm } from '@natter/helm';

const root = join(import.meta.dirname, '..', '..');
const chart = join(root, 'deploy', 'helm', 'natter');
const namespace = `natter-e2e-${process.pid}`;
const image = process.env.NATTER_IMAGE;

const reason = missing();
if (reason !== undefined) {
  console.log(`\nSKIPPED: the tests on a cluster: ${reason}\n`);
  process.exit(0);
}
let code = 1;
try {
  await main();
  code = 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(kubectl(['get', 'pods,events'], false));
} finally {
  run(helm ?? '', ['uninstall', 'natter', '-n', namespace, '--wait'], false);
  const left = kubectl(['get', 'deployments,jobs,services,networkpolicies', '-o', 'name'], false).trim();
  if (left !== '') console.log(`left after uninstall: ${left}`);
  run('kubectl', ['delete', 'namespace', namespace, '--wait=false'], false);
}
process.exit(code);

async function main(): Promise<void> {
  step('install');
  upgrade(process.env.NATTER_PREVIOUS_IMAGE ?? image ?? '', {});
  step('realm and canary');
  admin('realm', 'create', '--host', 'e2e.example', '--name', 'E2E', '--owner-email', 'o@e2e.example', '--default');
  const made = admin('key', 'create', '--host', 'e2e.example', '--email', 'c@e2e.example', '--create-role', 'member');
  const key = /api_key: (\w+)/.exec(made)?.[1] ?? '';
  const literals = ['NATTER_CANARY_EMAIL=c@e2e.example', `NATTER_CANARY_API_KEY=${key}`];
  kubectl(['create', 'secret', 'generic', 'natter-canary-credentials', ...literals.map((l) => `--from-literal=${l}`)]);
  const load = {
    'services.canary.enabled': 'true',
    'services.canary.replicas': '4',
    'services.canary.env.NATTER_CANARY_INTERVAL_MS': '500',
  };
  upgrade(process.env.NATTER_PREVIOUS_IMAGE ?? image ?? '', load);
  await seconds(20);
  check('before');
  step('upgrade under load');
  // The canaries stay: only what they measure is replaced.
  upgrade(image ?? '', {
    ...load,
    'defaults.podAnnotations.e2e': 'upgraded',
    'services.canary.podAnnotations.e2e': 'kept',
  });
  await seconds(20);
  check('after the upgrade');
  step('scale');
  for (const replicas of ['3', '1', '2']) {
    kubectl(['scale', 'deployment/natter-messaging', 'deployment/natter-users', `--replicas=${replicas}`]);
    kubectl(['rollout', 'status', 'deployment/natter-messaging', '--timeout=120s']);
    await seconds(15);
  }
  check('after scaling');
  step('helm test');
  console.log(run(helm ?? '', ['test', 'natter', '-n', namespace, '--logs']));
}

function upgrade(name: string, values: Record<string, string>): void {
  const at = name.lastIndexOf(':');
  const all = {
    'evaluation.enabled': 'true',
    'image.repository': at > 0 ? name.slice(0, at) : name,
    'image.tag': at > 0 ? name.slice(at + 1) : 'latest',
    ...values,
  };
  const sets = Object.entries(all).flatMap(([key, value]) => ['--set-string', `${key}=${value}`]);
  const typed = sets.map((part, index) => (/=(true|false|\d+)$/.test(sets[index + 1] ?? '') ? '--set' : part));
  run(helm ?? '', [
    'upgrade',
    '--install',
    'natter',
    chart,
    '-n',
    namespace,
    '--create-namespace',
    '--wait',
    '--timeout',
    '10m',
    ...typed,
  ]);
}

/** Every canary's counters: nothing failed, nothing lost, nothing doubled, something delivered. */
function check(when: string): void {
  const pods = kubectl(['get', 'pods', '-l', 'app.kubernetes.io/component=canary', '-o', 'name']).trim().split('\n');
  for (const pod of pods) {
    const name = pod.replace('pod/', '');
    const text = kubectl(['get', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}:9100/proxy/metrics`]);
    const value = (metric: string): number =>
      Number(new RegExp(`^${metric}\\S* (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
    const bad = {
      refused: value('natter_canary_sends_total\\{[^}]*outcome="refused"'),
      unknown: value('natter_canary_sends_total\\{[^}]*outcome="unknown"'),
      failedPolls: value('natter_canary_polls_total\\{[^}]*outcome="failed"'),
      lost: value('natter_canary_queues_lost_total'),
      doubled: value('natter_canary_doubled_total'),
      reordered: value('natter_canary_reordered_total'),
      undelivered: value('natter_canary_undelivered'),
    };
    const delivered = value('natter_canary_delivery_seconds_count');
    console.log(`${when}: ${name}: ${delivered} delivered, ${JSON.stringify(bad)}`);
    if (!(delivered > 0) || Object.values(bad).some((count) => count !== 0))
      throw new Error(`${when}: ${name} saw a failure`);
  }
}

/** The natter command in a pod of its own, with the operator's credentials. */
function admin(...args: string[]): string {
  const name = `admin-${Date.now()}`;
  const labels = ['name=natter', 'instance=natter', 'part-of=natter', 'component=operator'].map(
    (l) => `app.kubernetes.io/${l}`,
  );
  const container = { name, image, args, envFrom: [{ secretRef: { name: 'natter-operator-credentials' } }] };
  kubectl([
    'run',
    name,
    `--image=${image}`,
    '--restart=Never',
    `--labels=${labels.join(',')}`,
    `--overrides=${JSON.stringify({ spec: { containers: [container] } })}`,
  ]);
  kubectl(['wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=120s']);
  return kubectl(['logs', name]);
}

function missing(): string | undefined {
  if (!process.env.KUBECONFIG) return 'KUBECONFIG names no cluster';
  if (helm === undefined) return 'there is no helm binary';
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) return 'there is no kubectl';
  if (image === undefined) return 'NATTER_IMAGE names no image that the cluster can pull';
  return undefined;
}

function kubectl(args: string[], isChecked = true): string {
  return run('kubectl', ['-n', namespace, ...args], isChecked);
}

function run(command: string, args: string[], isChecked = true): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (isChecked && status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return `${stdout}${isChecked ? '' : stderr}`;
}

function step(name: string): void {
  console.log(`cluster: ${name}`);
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}
