/**
 * A load that goes on through an upgrade from the previous release, a rollback, deleted pods, crashed services and a
 * drained node: none of its requests may fail. Crashed gateways and deleted servers may cost requests, which are
 * counted.
 */
import { crashOneOfEach, deletePodOfEach, deleteServer, drain, nodesOf, place, schedulableNodes } from './disturb.ts';
import { helm, step, until, untilReady, watch } from './kubernetes.ts';
import { type Counters, checkNone, counters, countFailures, startLoad, stopLoad, untilDelivered } from './load.ts';
import {
  current,
  ensureRealm,
  isHealthy,
  previous,
  serverPods,
  servers,
  services,
  testValues,
  upgrade,
} from './release.ts';

const leastRequests = 10_000;
const behindGateways = services.filter((service) => service !== 'gateway');

export async function faults(): Promise<void> {
  step(`the previous release, ${previous.image}`);
  upgrade(previous, testValues(previous));
  ensureRealm();
  const [node = '', other] = schedulableNodes();
  // The load and the servers stay on one node, so that the drained node holds services alone.
  for (const server of servers) await place(server, node);
  await until('the doctor finds nothing', 180, isHealthy);
  startLoad({ pods: 2, node });
  try {
    await untilDelivered(50);
    const before = counters();
    await upgrades(before);
    await losePods(before);
    if (other !== undefined) await drainNode(before, other);
    await until(`${leastRequests} requests`, 900, () => counters().requests - before.requests >= leastRequests);
    checkNone('all of this', before);
    await loseGateways();
    await loseServers();
  } finally {
    stopLoad();
  }
}

async function upgrades(before: Counters): Promise<void> {
  const servers = serverPods();
  const replicas = watch(['get', 'deployments', '-o', 'jsonpath={.metadata.name} {.spec.replicas}{"\\n"}']);
  const change = (what: string, run: () => void): void => {
    step(what);
    run();
    checkNone(what, before);
    if (serverPods() !== servers) throw new Error(`${what}: a server of evaluation mode was replaced`);
  };
  change(`upgrade to ${current.image}`, () => upgrade(current, testValues(current)));
  change('rollback', () => helm(['rollback', 'natter', '--wait', '--timeout', '10m']));
  change('upgrade again', () => upgrade(current, testValues(current)));
  const fewer = replicas.stop().filter((line) => isService(line) && !/ 2$/.test(line));
  if (fewer.length > 0) throw new Error(`Deployments had other numbers of replicas than two: ${fewer.join(', ')}`);
}

const isService = (line: string): boolean => services.some((service) => line.startsWith(`natter-${service} `));
/** Kubernetes removes the pod at once, and newer versions give it hardly any time to end. */
const forced = ['--grace-period=0', '--force'];

async function losePods(before: Counters): Promise<void> {
  step('one pod of each service is deleted');
  await deletePodOfEach(services);
  checkNone('deleted pods', before);
  step('one pod of each service behind the gateways is deleted by force');
  await deletePodOfEach(behindGateways, forced);
  checkNone('pods deleted by force', before);
  step('one process of each service behind the gateways crashes');
  await crashOneOfEach(behindGateways);
  checkNone('crashed processes', before);
}

async function drainNode(before: Counters, node: string): Promise<void> {
  step(`${node}, which has both gateways, is drained`);
  await place('gateway', node);
  if (nodesOf('gateway').some((name) => name !== node)) throw new Error(`not all gateways are on ${node}`);
  await drain(node);
  checkNone('drained node', before);
}

async function loseGateways(): Promise<void> {
  await countFailures('a gateway is deleted by force', async () => {
    await deletePodOfEach(['gateway'], forced);
    return '';
  });
  await countFailures('a gateway crashes', async () => {
    await crashOneOfEach(['gateway']);
    return '';
  });
}

async function loseServers(): Promise<void> {
  for (const server of ['redis', 'nats', 'postgres'])
    await countFailures(`the pod of ${server} is deleted`, async () => {
      const duration = await deleteServer(server);
      await untilReady(server, 1);
      return ` (another pod after ${duration} s)`;
    });
}
