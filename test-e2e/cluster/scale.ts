/**
 * Gateway, presence and event-queue each scale by a metric of their own pods, which the cluster serves as
 * custom.metrics.k8s.io. Fewer replicas follow without a failed request.
 */
import { json, kubectl, step, until, untilReady, watch } from './kubernetes.ts';
import { checkNone, counters, createUser, startLoad, stopLoad, untilDelivered } from './load.ts';
import { current, ensureRealm, testValues, upgrade } from './release.ts';

/** What raises the metric of one service, and hardly those of the others. */
const loads = {
  gateway: { LOAD_POLLS: '60' },
  presence: { LOAD_PRESENCE_MS: '50' },
  'event-queue': { LOAD_REGISTER_MS: '100' },
};
type Scaled = keyof typeof loads;
const scaled = Object.keys(loads) as Scaled[];
const idle = { LOAD_LANES: '0', LOAD_PRESENCE_MS: '0', LOAD_REGISTER_MS: '0' };

export async function scale(): Promise<void> {
  step('autoscaling by metrics of pods');
  // CPU never decides here.
  const by = (name: string, averageValue: string): object => ({
    resources: { requests: { cpu: '100m', memory: '96Mi' }, limits: { memory: '512Mi' } },
    autoscaling: { enabled: true, targetCPUUtilizationPercentage: 1_000, podMetric: { name, averageValue } },
  });
  const { services, ...values } = testValues(current);
  upgrade(current, {
    ...values,
    autoscaling: { customMetrics: true },
    services: {
      ...(services as object),
      gateway: by('natter_held_polls', '12'),
      presence: by('natter_requests_per_second', '4'),
      'event-queue': by('natter_requests_per_second', '5'),
    },
  });
  ensureRealm();
  const replicas = watch(['get', 'deployments', '-o', 'jsonpath={.metadata.name} {.spec.replicas}{"\\n"}']);
  startLoad({ pods: 1, user: createUser() });
  try {
    await untilDelivered(20);
    const before = counters();
    for (const service of scaled) {
      startLoad({ pods: 1, user: createUser() }, { ...idle, ...loads[service] });
      const took = await until(`more than two replicas of ${service}`, 300, () => replicasOf(service) > 2);
      console.log(`${service}: ${replicasOf(service)} replicas after ${took} s; ${described(service)}`);
      const others = scaled.slice(scaled.indexOf(service) + 1).filter((other) => replicasOf(other) !== 2);
      if (others.length > 0) throw new Error(`${service} was loaded, but ${others.join(', ')} scaled`);
    }
    checkNone('more replicas', before);
    step('fewer replicas');
    endLoads();
    const behavior = {
      scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }] },
    };
    for (const service of scaled)
      kubectl(['patch', 'hpa', `natter-${service}`, '--type=merge', '-p', JSON.stringify({ spec: { behavior } })]);
    for (const service of scaled) await untilReady(service, 2, 400);
    await untilDelivered(20);
    checkNone('fewer replicas', before);
  } finally {
    stopLoad();
  }
  const few = replicas.stop().filter((line) => / [01]$/.test(line));
  if (few.length > 0) throw new Error(`fewer replicas than the minimum: ${few.join(', ')}`);
}

const replicasOf = (service: string): number =>
  json<{ spec: { replicas: number } }>(['get', 'deployment', `natter-${service}`]).spec.replicas;

const described = (service: string): string =>
  kubectl(['get', 'hpa', `natter-${service}`, '--no-headers'])
    .trim()
    .split(/\s{2,}/)
    .slice(2, 3)
    .join('');

/** Ends every load but the first, which goes on through the scale-down. */
function endLoads(): void {
  for (const index of scaled.keys()) kubectl(['delete', 'pod', `load-${index + 1}`, '--grace-period=0', '--force']);
}
