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
  const others = schedulableNodes().filter((name) => name !== node);
  for (const other of others) kubectl(['cordon', other]);
  try {
    const pods = podsOf(component);
    for (const { metadata, spec } of pods) {
      if (spec.nodeName === node) continue;
      kubectl(['delete', 'pod', metadata.name, '--wait=false']);
      await untilReady(component, pods.length);
    }
  } finally {
    for (const other of others) kubectl(['uncordon', other]);
  }
}

/** Deletes one pod of each service, and waits until each is replaced. */
export async function deletePodOfEach(args: string[]): Promise<void> {
  for (const service of services) {
    const [pod, ...rest] = podsOf(service) as [Pod, ...Pod[]];
    kubectl(['delete', 'pod', pod.metadata.name, '--wait=false', ...args]);
    await untilReady(service, rest.length + 1);
  }
}

/** Deletes the pod of a server of evaluation mode, and waits for the next one. */
export async function deleteServer(server: string): Promise<number> {
  const before = podsOf(server)[0]?.metadata.uid;
  kubectl(['delete', 'pod', '-l', `app.kubernetes.io/component=${server}`]);
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
