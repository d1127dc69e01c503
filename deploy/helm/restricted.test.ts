/** Every pod of every mode, against the restricted pod security standard and the values that concern all pods. */
import { describe, expect, test } from 'vitest';
import { isWorkload, podOf } from './objects.ts';
import { currentApis, extensions, helm, type KubernetesObject, render, renderNotes } from './render.ts';

const nodeAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'arch', operator: 'In', values: ['amd64'] }] }],
  },
};
const toleration = { key: 'chat', operator: 'Exists', effect: 'NoSchedule' };
const common = {
  image: { pullSecrets: ['registry'] },
  defaults: {
    nodeSelector: { pool: 'chat' },
    tolerations: [toleration],
    affinity: { nodeAffinity },
    priorityClassName: 'chat',
  },
  services: { canary: { enabled: true } },
  doctor: { enabled: true },
  backup: { enabled: true, copy: { image: 'rclone:1' } },
};
const modes: Record<string, Record<string, unknown>> = {
  production: common,
  evaluation: { ...common, evaluation: { enabled: true } },
  'a restore': { ...common, backup: { ...common.backup, restore: 'latest' } },
};
const pods = (values: Record<string, unknown>): KubernetesObject[] =>
  render({ values, apiVersions: [...currentApis, ...extensions] }).filter(isWorkload);

// biome-ignore lint/suspicious/noExplicitAny: rendered objects are checked field by field.
type Any = any;

const volumeTypes = new Set(
  'configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret'.split(' '),
);

/** The rules of the standard that a pod breaks, in the order of the standard. */
function broken(pod: Any): string[] {
  const rules: string[] = [];
  const check = (holds: boolean, rule: string): void => {
    if (!holds) rules.push(rule);
  };
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC']) check(!pod[field], field);
  for (const volume of pod.volumes ?? [])
    check(
      Object.keys(volume).every((key) => key === 'name' || volumeTypes.has(key)),
      `volume ${volume.name}`,
    );
  check((pod.securityContext?.sysctls ?? []).length === 0, 'sysctls');
  for (const container of [...(pod.initContainers ?? []), ...pod.containers, ...(pod.ephemeralContainers ?? [])]) {
    const own = container.securityContext ?? {};
    const effective = { ...pod.securityContext, ...own };
    const { name } = container;
    check(!own.privileged && own.procMount === undefined, `${name}: privileged or procMount`);
    check(own.allowPrivilegeEscalation === false, `${name}: allowPrivilegeEscalation`);
    check(effective.runAsNonRoot === true && effective.runAsUser !== 0, `${name}: runAsNonRoot`);
    check(['RuntimeDefault', 'Localhost'].includes(effective.seccompProfile?.type), `${name}: seccompProfile`);
    check(own.capabilities?.drop?.includes('ALL') === true, `${name}: capabilities.drop`);
    const added: string[] = own.capabilities?.add ?? [];
    check(
      added.every((capability) => capability === 'NET_BIND_SERVICE'),
      `${name}: capabilities.add`,
    );
    check(
      (container.ports ?? []).every(({ hostPort }: Any) => !hostPort),
      `${name}: hostPort`,
    );
  }
  return rules;
}

test('the check of the restricted standard finds each broken rule', () => {
  const good = {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      { name: 'a', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
    ] as Any[],
  };
  expect(broken(good)).toEqual([]);
  expect(broken({ ...good, hostPID: true })).toEqual(['hostPID']);
  expect(broken({ ...good, volumes: [{ name: 'v', hostPath: { path: '/' } }] })).toEqual(['volume v']);
  expect(broken({ ...good, initContainers: [{ name: 'i' }] })).toEqual([
    'i: allowPrivilegeEscalation',
    'i: capabilities.drop',
  ]);
  expect(broken({ containers: good.containers })).toEqual(['a: runAsNonRoot', 'a: seccompProfile']);
  const [container] = good.containers;
  expect(broken({ ...good, containers: [{ ...container, ports: [{ hostPort: 1 }] }] })).toEqual(['a: hostPort']);
});

describe.skipIf(helm === undefined).each(Object.entries(modes))('the pods of %s', (_, values) => {
  const workloads = helm === undefined ? [] : pods(values);

  test('meet the restricted pod security standard', () => {
    expect(new Set(workloads.map(({ kind }) => kind))).toContain('Pod');
    expect(workloads.map((workload) => [workload.metadata.name, broken(podOf(workload))])).toEqual(
      workloads.map(({ metadata }) => [metadata.name, []]),
    );
  });

  test('use the pull secrets, priority and nodes of the defaults, including Jobs, hooks and tests', () => {
    for (const workload of workloads)
      expect(podOf(workload), `${workload.kind} ${workload.metadata.name}`).toMatchObject({
        imagePullSecrets: [{ name: 'registry' }],
        priorityClassName: 'chat',
        nodeSelector: { pool: 'chat' },
        tolerations: [toleration],
        affinity: { nodeAffinity },
      });
  });
});

test.skipIf(helm === undefined)('the pods of the notes meet the standard and run on the nodes of the defaults', () => {
  const given = [...renderNotes({ values: common }).matchAll(/--overrides='(.*?)'(?: |$)/gm)].map(([, json = '']) =>
    JSON.parse(json.replaceAll(/'"\$(\w+)"'/g, '$1')),
  );
  expect(given).toHaveLength(2);
  for (const { spec } of given) {
    expect(broken(spec)).toEqual([]);
    expect(spec).toMatchObject({
      priorityClassName: 'chat',
      nodeSelector: { pool: 'chat' },
      tolerations: [toleration],
    });
  }
});
