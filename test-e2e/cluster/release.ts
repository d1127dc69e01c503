/** The release that the tests install, upgrade and examine, and the operator's commands inside the cluster. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { helm, kubectl, namesOf, podsOf } from './kubernetes.ts';

const root = join(import.meta.dirname, '..', '..');

/** A chart together with the image that belongs to it. */
export interface Version {
  chart: string;
  image: string;
}

const ownChart = join(root, 'deploy', 'helm', 'natter');
export const current: Version = { chart: ownChart, image: process.env.NATTER_IMAGE ?? '' };
export const previous: Version = {
  chart: process.env.NATTER_PREVIOUS_CHART ?? ownChart,
  image: process.env.NATTER_PREVIOUS_IMAGE ?? current.image,
};

export const services = ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'];
export const servers = ['postgres', 'redis', 'nats'];

type Values = Record<string, unknown>;

/** The values that a new operator sets: the image, and evaluation mode with the images of its servers. */
export function plainValues({ image }: Version): Values {
  const { NATTER_POSTGRES_IMAGE, NATTER_REDIS_IMAGE, NATTER_NATS_IMAGE } = process.env;
  const at = image.lastIndexOf(':');
  const hasTag = at > image.lastIndexOf('/');
  return {
    image: { repository: hasTag ? image.slice(0, at) : image, tag: hasTag ? image.slice(at + 1) : 'latest' },
    evaluation: {
      enabled: true,
      ...(NATTER_POSTGRES_IMAGE ? { postgresImage: NATTER_POSTGRES_IMAGE } : {}),
      ...(NATTER_REDIS_IMAGE ? { redisImage: NATTER_REDIS_IMAGE } : {}),
      ...(NATTER_NATS_IMAGE ? { natsImage: NATTER_NATS_IMAGE } : {}),
    },
  };
}

const resources = { requests: { cpu: '25m', memory: '96Mi' }, limits: { memory: '512Mi' } };

/** For a load from few users on few nodes: no limits of rates, small requests, a fixed number of replicas. */
export function testValues(version: Version): Values {
  return {
    ...plainValues(version),
    settings: { NATTER_RATE_LIMIT: 1_000_000 },
    defaults: { resources, autoscaling: { enabled: false } },
    services: { gateway: { resources }, messaging: { resources } },
  };
}

export function upgrade({ chart }: Version, values: Values, release = 'natter'): void {
  const args = ['upgrade', '--install', release, chart, '--create-namespace', '--wait', '--timeout', '10m', '-f', '-'];
  helm(args, { input: JSON.stringify(values) });
}

export const isInstalled = (): boolean => helm(['list', '-q', '--all']).split('\n').includes('natter');

/** Servers of evaluation mode whose pods stay in an upgrade between both versions: those with the same users in both. */
const unchangedServers = (): string[] =>
  servers.filter((server) => {
    const usersOf = ({ chart }: Version): string => {
      const file = join(chart, 'files', `${server}-users.yaml`);
      return existsSync(file) ? readFileSync(file, 'utf8') : '';
    };
    return usersOf(current) === usersOf(previous);
  });

/** Identifies the pods of these servers: equal as long as none of them was replaced. */
export const serverPods = (): string =>
  unchangedServers()
    .flatMap((server) => podsOf(server).map(({ metadata }) => `${server} ${metadata.uid}`))
    .join('\n');

/** The host of the first realm, as the notes give it. */
export const host = 'chat.example.com';

export function ensureRealm(): void {
  if (natter('realm', 'list').includes(host)) return;
  natter('realm', 'create', '--host', host, '--name', 'E2E', '--owner-email', `owner@${host}`, '--default');
}

/** The restricted pod security standard, which a namespace of the run may enforce. */
export const podSecurity = { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } };
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Runs the natter command of the running release in a pod, with the credentials of the operator. */
export function natter(...args: string[]): string {
  const image = kubectl([
    'get',
    'deployment',
    'natter-users',
    '-o',
    'jsonpath={.spec.template.spec.containers[0].image}',
  ]);
  const name = `natter-admin-${Date.now()}`;
  const labels = ['name=natter', 'instance=natter', 'part-of=natter', 'component=operator'].map(
    (label) => `app.kubernetes.io/${label}`,
  );
  const envFrom = [{ secretRef: { name: 'natter-operator-credentials' } }];
  const container = { name, image, args, envFrom, securityContext: containerSecurity };
  const spec = { securityContext: podSecurity, containers: [container] };
  const pod = [`--image=${image}`, '--restart=Never', `--labels=${labels.join(',')}`];
  kubectl(['run', name, ...pod, `--overrides=${JSON.stringify({ spec })}`]);
  try {
    kubectl(['wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=120s']);
    return kubectl(['logs', name]);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${kubectl(['logs', name], { mayFail: true })}`);
  } finally {
    kubectl(['delete', 'pod', name, '--wait=false'], { mayFail: true });
  }
}

export function isHealthy(): boolean {
  try {
    return !natter('doctor', '--wait', '30').includes('FAIL');
  } catch {
    return false;
  }
}

/** The objects of a release that still exist. */
export const objectsOf = (release: string): string[] =>
  ['deployments', 'statefulsets', 'jobs', 'cronjobs', 'pods', 'services', 'secrets', 'configmaps', 'serviceaccounts']
    .concat(['persistentvolumeclaims', 'networkpolicies', 'horizontalpodautoscalers', 'poddisruptionbudgets'])
    .flatMap((kind) => namesOf(kind, `app.kubernetes.io/instance=${release}`).map((name) => `${kind}/${name}`));
