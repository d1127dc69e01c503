/** Disturbs pods and nodes while the load runs. */
import { json, kubectl, type Pod, podsOf, run, seconds, until, untilReady } from './kubernetes.ts';
import { services } from './release.ts';

interface Node {
  metadata: { name: string };
  spec: { unschedulable?: boolean };
}

export const schedulableNodes = (): string[] =>
  json<{ items: Node[] }>(['get', 'nodes'])
    .items.filter(({ spec }) => !spec.unschedulable)
    .map(({ metadata }) => metadata.name);

export const nodesOf = (component: string): string[] => podsOf(component).map(({ spec }) => spec.nodeName ?? '');

/** Moves all pods of a component to a node, one after another. */
export async function place(component: string, node: string): Promise<void> {
  while (await move(component, (from) => from !== node, [node]));
}

/** Distributes the services so that each has a pod on this node, and one elsewhere. */
export async function expose(node: string): Promise<void> {
  const others = schedulableNodes().filter((name) => name !== node);
  for (const service of services) {
    if (nodesOf(service).every((name) => name === node)) await move(service, () => true, others);
    if (!nodesOf(service).includes(node)) await move(service, () => true, [node]);
  }
}

/** Replaces one pod of a component, if any is on such a node, by one on the given nodes. Returns whether it did. */
async function move(component: string, isFrom: (node: string) => boolean, nodes: string[]): Promise<boolean> {
  const pods = podsOf(component);
  const moved = pods.find(({ spec }) => isFrom(spec.nodeName ?? ''));
  if (!moved) return false;
  const closed = schedulableNodes().filter((name) => !nodes.includes(name));
  for (const name of closed) kubectl(['cordon', name]);
  try {
    kubectl(['delete', 'pod', moved.metadata.name, '--wait=false']);
    await untilReady(component, pods.length);
  } finally {
    for (const name of closed) kubectl(['uncordon', name]);
  }
  return true;
}

/** Deletes one pod of each service, and waits until each is replaced. */
export async function deletePodOfEach(of: string[], args: string[] = []): Promise<void> {
  for (const service of of) {
    const [pod, ...rest] = podsOf(service) as [Pod, ...Pod[]];
    kubectl(['delete', 'pod', pod.metadata.name, '--wait=false', ...args]);
    await untilReady(service, rest.length + 1);
  }
}

/**
 * Ends the process of one pod of a service without any of its own code. No signal from inside ends the first process of
 * a container, so it is told to over its debugger, which listens inside the container alone.
 */
const crash = `
  process.kill(1, 'SIGUSR1');
  const targets = async () => {
    for (;;) {
      const answer = await fetch('http://127.0.0.1:9229/json').catch(() => undefined);
      if (answer) return answer.json();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const [{ webSocketDebuggerUrl }] = await targets();
  const socket = new WebSocket(webSocketDebuggerUrl);
  const expression = 'setTimeout(() => process.reallyExit(137), 100)';
  socket.onopen = () => socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
  // The end waits until no debugger is connected.
  socket.onmessage = () => socket.close();`;

/** Crashes one process of each service, and waits until its container runs again. */
export async function crashOneOfEach(of: string[]): Promise<void> {
  for (const service of of) {
    const [pod, ...rest] = podsOf(service) as [Pod, ...Pod[]];
    const { name } = pod.metadata;
    const before = restartsOf(pod);
    const node = ['/usr/local/bin/node', '--input-type=module', '-e', crash];
    // The end of the container ends the command too.
    kubectl(['exec', name, '-c', service, '--', ...node], { mayFail: true });
    const isRestarted = (): boolean =>
      podsOf(service).some((one) => one.metadata.name === name && restartsOf(one) > before);
    await until(`a restart of ${name}`, 60, isRestarted);
    await untilReady(service, rest.length + 1);
  }
}

const restartsOf = ({ status }: Pod): number => status.containerStatuses?.[0]?.restartCount ?? 0;

/** Deletes the pod of a server of evaluation mode, and waits for the next one. */
export async function deleteServer(server: string): Promise<number> {
  const before = podsOf(server)[0]?.metadata.uid;
  kubectl(['delete', 'pod', '-l', `app.kubernetes.io/component=${server}`, '--wait=false']);
  return until(`another ${server}`, 300, () => podsOf(server).some(({ metadata }) => metadata.uid !== before));
}

/** Evicts everything from a node, as its upgrade would, and lets it work again. */
export async function drain(node: string): Promise<void> {
  const args = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=300s'];
  try {
    run('kubectl', ['drain', node, ...args]);
    for (const service of services) await untilReady(service, 2);
    const left = services.filter((service) => nodesOf(service).includes(node));
    if (left.length > 0) throw new Error(`${node} was drained, but has ${left.join(', ')}`);
  } finally {
    kubectl(['uncordon', node]);
  }
}

/** Ends a node with the command of the operator of the cluster, which gets its name; waits until Kubernetes noticed. */
export async function lose(node: string, command: string): Promise<number> {
  run('sh', ['-c', `${command} "$1"`, 'sh', node]);
  const gone = await until(`${node} is not ready`, 300, () => {
    const states = kubectl(['get', 'node', node, '-o', "jsonpath={.status.conditions[?(@.type=='Ready')].status}"]);
    return states.trim() !== 'True';
  });
  await seconds(30);
  return gone;
}
