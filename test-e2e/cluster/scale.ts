/**
 * Gateway, presence and event-queue each scale by a metric of their own pods, which the cluster serves as
 * custom.metrics.k8s.io. Fewer replicas follow without a failed request.
 */
import { json, kubectl, run, step, until, untilReady, watch } from './kubernetes.ts';
import { checkNone, counters, startLoad, stopAllButFirst, stopLoad, untilDelivered } from './load.ts';
import { current, ensureRealm, testValues, upgrade } from './release.ts';

/** The load that raises the metric of one service, and hardly those of the others. Several pods, for slow clusters. */
const loads = {
  gateway: { pods: 1, settings: { LOAD_POLLS: '60' } },
  presence: { pods: 3, settings: { LOAD_PRESENCE_MS: '50' } },
  'event-queue': { pods: 3, settings: { LOAD_REGISTER_MS: '50' } },
};
type Scaled = keyof typeof loads;
const scaled = Object.keys(loads) as Scaled[];
const idle = { LOAD_LANES: '0', LOAD_PRESENCE_MS: '0', LOAD_REGISTER_MS: '0' };

// CPU never decides here.
const by = (name: string, averageValue: string): object => ({
  resources: { requests: { cpu: '100m', memory: '96Mi' }, limits: { memory: '512Mi' } },
  autoscaling: { enabled: true, targetCPUUtilizationPercentage: 1_000, podMetric: { name, averageValue } },
});

function scalingValues(): Record<string, unknown> {
  const { services, ...values } = testValues(current);
  return {
    ...values,
    autoscaling: { customMetrics: true },
    services: {
      ...(services as object),
      gateway: by('natter_held_polls', '12'),
      presence: by('natter_requests_per_second', '3'),
      'event-queue': by('natter_requests_per_second', '3'),
    },
  };
}

export async function scale(): Promise<void> {
  step('autoscaling by metrics of pods');
  const values = scalingValues();
  upgrade(current, values);
  ensureRealm();
  const replicas = watch(['get', 'deployments', '-o', 'jsonpath={.metadata.name} {.spec.replicas}{"\n"}']);
  startLoad({ pods: 1 });
  try {
    await untilDelivered(20);
    const before = counters();
    await raise();
    checkNone('more replicas', before);
    step('an upgrade keeps the replicas');
    const reached = scaled.map(replicasOf);
    upgrade(current, values);
    const kept = scaled.map(replicasOf);
    if (kept.some((count, index) => count < (reached[index] ?? 0)))
      throw new Error(`the replicas were ${reached.join(', ')} before the upgrade, and ${kept.join(', ')} after it`);
    checkNone('upgrade', before);
    step('fewer replicas');
    stopAllButFirst();
    await lower();
    await untilDelivered(20);
    checkNone('fewer replicas', before);
  } finally {
    stopLoad();
  }
  const isFew = (line: string): boolean => scaled.some((service) => new RegExp(`^natter-${service} [01]$`).test(line));
  const few = replicas.stop().filter(isFew);
  if (few.length > 0) throw new Error(`fewer replicas than the minimum: ${few.join(', ')}`);
}

/** Loads one service after another until its autoscaler adds replicas. */
async function raise(): Promise<void> {
  for (const [index, service] of scaled.entries()) {
    const { pods, settings } = loads[service];
    startLoad({ pods }, { ...idle, ...settings });
    const took = await until(`more than two replicas of ${service}`, 300, () => replicasOf(service) > 2);
    console.log(`${service}: ${replicasOf(service)} replicas after ${took} s; ${described(service)}`);
    const others = scaled.slice(index + 1).filter((other) => replicasOf(other) !== 2);
    if (others.length > 0) throw new Error(`${service} was loaded, but ${others.join(', ')} scaled`);
  }
}

/** Has the autoscalers remove replicas without the chart's delays, and waits for the minimum. */
async function lower(): Promise<void> {
  const scaleDown = { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }] };
  const patch = JSON.stringify({ spec: { behavior: { scaleDown } } });
  for (const service of scaled) kubectl(['patch', autoscalers(), `natter-${service}`, '--type=merge', '-p', patch]);
  for (const service of scaled) await untilReady(service, 2, 400);
}

const replicasOf = (service: string): number =>
  json<{ spec: { replicas: number } }>(['get', 'deployment', `natter-${service}`]).spec.replicas;

const described = (service: string): string =>
  kubectl(['get', 'hpa', `natter-${service}`, '--no-headers'])
    .trim()
    .split(/\s{2,}/)
    .slice(2, 3)
    .join('');

/** The resource name with an API version that supports `behavior`. Others drop this field. */
function autoscalers(): string {
  const isStable = run('kubectl', ['api-versions']).split('\n').includes('autoscaling/v2');
  return `horizontalpodautoscalers.${isStable ? 'v2' : 'v2beta2'}.autoscaling`;
}
