/**
 * A load that goes on through an upgrade from the previous release, a rollback, deleted and killed pods, and a drained
 * node: none of its requests may fail. Deleted servers and a lost node may cost requests, which are counted.
 */
import { deletePodOfEach, deleteServer, drain, lose, nodesOf, place, schedulableNodes } from './disturb.ts';
import { helm, step, until, untilReady, watch } from './kubernetes.ts';
import {
  type Counters,
  checkNone,
  counters,
  createUser,
  reportFailures,
  startLoad,
  stopLoad,
  untilDelivered,
} from './load.ts';
import { current, ensureRealm, previous, serverPods, services, testValues, upgrade } from './release.ts';

const leastRequests = 10_000;

export async function faults(): Promise<void> {
  step(`the previous release, ${previous.image}`);
  upgrade(previous, testValues(previous));
  ensureRealm();
  const [node = '', other] = schedulableNodes();
  // The load and the servers stay on one node, so that drained and lost nodes hold services alone.
  for (const server of ['postgres', 'redis', 'nats']) await place(server, node);
  startLoad({ pods: 2, node, user: createUser() });
  try {
    await untilDelivered(50);
    const before = counters();
    await upgrades(before);
    await losePods(before);
    if (other !== undefined) await loseNodes(before, other);
    await until(`${leastRequests} requests`, 900, () => counters().requests - before.requests >= leastRequests);
    checkNone('all of this', before);
    await loseServers();
    if (other !== undefined) await loseNode(other);
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

async function losePods(before: Counters): Promise<void> {
  step('one pod of each service is deleted');
  await deletePodOfEach([]);
  checkNone('deleted pods', before);
  step('one pod of each service is killed');
  await deletePodOfEach(['--grace-period=0', '--force']);
  checkNone('killed pods', before);
}

async function loseNodes(before: Counters, node: string): Promise<void> {
  step(`${node}, which has both gateways, is drained`);
  await place('gateway', node);
  if (nodesOf('gateway').some((name) => name !== node)) throw new Error(`not all gateways are on ${node}`);
  await drain(node);
  checkNone('drained node', before);
}

async function loseServers(): Promise<void> {
  for (const server of ['redis', 'nats', 'postgres']) {
    step(`the pod of ${server} is deleted`);
    const [before, since] = [counters(), new Date().toISOString()];
    const duration = await deleteServer(server);
    await untilReady(server, 1);
    await untilDelivered(50);
    reportFailures(`deleted ${server} (another pod after ${duration} s)`, since, before);
  }
}

async function loseNode(node: string): Promise<void> {
  const command = process.env.NATTER_LOSE_NODE;
  if (command === undefined) return step('no node is lost: NATTER_LOSE_NODE names no command');
  step(`${node} is lost with one gateway at least`);
  await place('gateway', node);
  const [before, since] = [counters(), new Date().toISOString()];
  const noticed = await lose(node, command);
  await untilDelivered(50);
  reportFailures(`lost node (Kubernetes noticed after ${noticed} s)`, since, before);
}
