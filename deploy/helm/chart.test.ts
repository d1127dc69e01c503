import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { natsPermissionsText, natsUsers, redisRules } from '@natter/service-kit';
import { describe, expect, test } from 'vitest';
import { isCovered, violations } from './kubernetes-schemas.ts';
import { isWorkload, named, of, podOf } from './objects.ts';
import {
  chart,
  currentApis,
  extensions,
  helm,
  type KubernetesObject,
  type RenderOptions,
  refusal,
  render,
} from './render.ts';
import { natsUsersFile, natsUsersText, redisUsersFile, redisUsersText } from './server-users.ts';

const everything = {
  services: { canary: { enabled: true } },
  ingress: {
    enabled: true,
    hosts: ['chat.example.com', '*.chat.example.com'],
    tls: [{ secretName: 'tls', hosts: ['chat.example.com'] }],
  },
  image: { pullSecrets: ['registry'] },
  tracing: { endpoint: 'http://otel:4318' },
  autoscaling: { customMetrics: true },
  backup: { enabled: true, copy: { image: 'rclone:1' } },
  doctor: { enabled: true },
  networkPolicy: {
    apiFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    metricsFrom: [{ podSelector: {} }],
  },
};
const evaluation = { ...everything, evaluation: { enabled: true } };
const clusters: Record<string, RenderOptions> = {
  'a plain cluster': {},
  'everything switched on': { values: everything },
  'evaluation mode': { values: evaluation },
  'a cluster with KEDA and Prometheus': {
    values: { ...everything, autoscaling: { prometheusAddress: 'http://prometheus:9090' } },
    apiVersions: [...currentApis, ...extensions],
  },
  'an old cluster': { values: everything, kubeVersion: '1.19.0', apiVersions: [] },
};
const services = ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'];
describe.skipIf(helm === undefined)(
  helm === undefined ? 'in the chart: SKIPPED: there is no helm binary' : 'in the chart',
  () => {
    test('helm lint passes', () => {
      const { status, stdout } = spawnSync(helm ?? '', ['lint', '--strict', chart], { encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
    });

    test('only the migrations Job begins a new epoch after a restore, before any service can log in', () => {
      const backup = { enabled: true, copy: { image: '' }, restore: 'natter-20261122T031700Z.dump' };
      const objects = render({ values: { ...evaluation, backup } });
      const [job] = of(objects, 'Job') as [KubernetesObject];
      const { initContainers, containers, volumes } = podOf(job);
      expect(initContainers.map(({ name }: { name: string }) => name)).toEqual(['restore', 'after-restore']);
      expect(initContainers[0].args[0]).toContain('file=natter-20261122T031700Z.dump\n');
      expect(initContainers[1].args).toEqual(['after-restore', '--if-marked', '--margin', '1000000']);
      expect(containers[0].args).toContain('--set-passwords');
      const claim = named(objects, 'PersistentVolumeClaim', 'natter-backup');
      expect(volumes[0].persistentVolumeClaim.claimName).toBe(claim.metadata.name);
      expect(claim.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
      expect(podOf(named(objects, 'CronJob', 'natter-backup')).volumes).toEqual(volumes);
      const [plain] = of(render({ values: evaluation }), 'Job') as [KubernetesObject];
      expect(podOf(plain).initContainers).toBeUndefined();
      // A restore may take as long as a dump.
      expect([job.spec.activeDeadlineSeconds, plain.spec.activeDeadlineSeconds]).toEqual([7200, 600]);
      const migrations = { activeDeadlineSeconds: 86_400 };
      const [longer] = of(render({ values: { ...evaluation, backup, migrations } }), 'Job') as [KubernetesObject];
      expect(longer.spec.activeDeadlineSeconds).toBe(86_400);
      expect(podOf(plain).containers[0].args).not.toContain('--set-passwords');
    });

    test('the backup copy runs after the dump, mounts it read-only, and is the only reason for egress to port 443', () => {
      const copy = { image: 'rclone:1', args: ['copy', '/backup', 'store:natter'], existingSecret: 'store' };
      const objects = render({ values: { backup: { enabled: true, copy } } });
      const { initContainers, containers } = podOf(named(objects, 'CronJob', 'natter-backup'));
      expect(initContainers.map(({ name }: { name: string }) => name)).toEqual(['backup']);
      expect(containers).toMatchObject([
        { name: 'copy', image: copy.image, args: copy.args, envFrom: [{ secretRef: { name: 'store' } }] },
      ]);
      expect(containers[0].volumeMounts).toContainEqual({ name: 'backup', mountPath: '/backup', readOnly: true });
      const portsOf = (all: KubernetesObject[], name: string): number[] =>
        named(all, 'NetworkPolicy', name).spec.egress.flatMap(({ ports }: { ports: { port: number }[] }) =>
          ports.map(({ port }) => port),
        );
      expect(portsOf(objects, 'natter-operator')).toContain(443);
      expect(portsOf(objects, 'natter-users')).not.toContain(443);
      expect(portsOf(render({ values: { backup: { enabled: true } } }), 'natter-operator')).not.toContain(443);
    });

    test('the image is referenced by digest if one is given', () => {
      const digest = `sha256:${'a'.repeat(64)}`;
      const images = render({ values: { image: { repository: 'r.example/natter', tag: '1', digest } } })
        .filter(isWorkload)
        .flatMap((object) => podOf(object).containers.map(({ image }: { image: string }) => image));
      expect(new Set(images)).toEqual(new Set([`r.example/natter:1@${digest}`]));
    });

    describe.each(Object.entries(clusters))('on %s', (name, options) => {
      const objects = helm === undefined ? [] : render(options);
      const workloads = objects.filter(isWorkload);

      test('Kubernetes accepts the rendered objects, which have no unknown fields', async () => {
        expect(objects.length).toBeGreaterThan(20);
        expect(await violations(objects)).toEqual([]);
        if (name !== 'an old cluster')
          expect(objects.filter((object) => !isCovered(object)).map(({ kind }) => kind)).toEqual(
            name.includes('KEDA')
              ? ['PodMonitor', 'PrometheusRule', 'ScaledObject', 'ScaledObject', 'ScaledObject']
                  .filter((kind) => of(objects, kind).length > 0)
                  .sort()
              : [],
          );
      });

      test('every object has its own name, the namespace, and the labels of the release', () => {
        const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
        expect(new Set(names).size).toBe(names.length);
        for (const { metadata } of objects) {
          expect(metadata.namespace, metadata.name).toBe('chat');
          expect(metadata.labels?.['app.kubernetes.io/instance'], metadata.name).toBe('natter');
        }
      });

      test('every container is hardened and has resource limits', () => {
        for (const workload of workloads) {
          const pod = podOf(workload);
          expect(pod.automountServiceAccountToken, workload.metadata.name).toBe(false);
          expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
          for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
            expect(container.securityContext, container.name).toEqual({
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            });
            expect(container.resources.requests).toMatchObject({ cpu: expect.anything(), memory: expect.anything() });
            expect(container.resources.limits.memory).toBeTruthy();
            for (const { name, value } of container.env ?? []) {
              expect(value && /PASSWORD|SECRET|KEY/.test(name), `${name} stands in a pod`).toBeFalsy();
              expect(String(value)).not.toMatch(/:\/\/[^/]*:[^/]*@/);
            }
          }
        }
      });

      test('every service has three probes, and time to stop', () => {
        for (const workload of [...of(workloads, 'Deployment'), ...of(workloads, 'StatefulSet')])
          for (const container of podOf(workload).containers)
            for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
              expect(container[probe], `${workload.metadata.name} ${probe}`).toBeTruthy();
        for (const service of services) {
          const deployment = named(objects, 'Deployment', `natter-${service}`);
          const pod = podOf(deployment);
          const [container] = pod.containers;
          expect(container.livenessProbe.httpGet.path).toBe('/healthz');
          expect(container.readinessProbe.httpGet.path).toBe('/readyz');
          const slept = Number(/(\d+)\)$/.exec(container.lifecycle.preStop.exec.command[2])?.[1]) / 1000;
          const drain =
            Number(container.env.find((entry: { name: string }) => entry.name === 'NATTER_DRAIN_MS').value) / 1000;
          expect(slept).toBeGreaterThan(0);
          // A client with an idle connection gets the time to use it and learn that it ends.
          expect(drain).toBeGreaterThanOrEqual(service === 'gateway' ? 10 : 1);
          expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(slept + drain + 25);
          expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
          expect(container.args).toEqual([service]);
        }
      });

      test('every service is scaled and has a disruption budget, but the canary has none', () => {
        const scaled = new Set(
          [...of(objects, 'HorizontalPodAutoscaler'), ...of(objects, 'ScaledObject')].map(
            ({ spec }) => spec.scaleTargetRef.name,
          ),
        );
        expect(scaled).toEqual(new Set(services.map((service) => `natter-${service}`)));
        for (const service of services) {
          const { spec } = named(objects, 'Deployment', `natter-${service}`);
          expect(spec.replicas, service).toBe(2);
          expect(named(objects, 'PodDisruptionBudget', `natter-${service}`).spec.maxUnavailable).toBe(1);
        }
        expect(of(objects, 'PodDisruptionBudget').map(({ metadata }) => metadata.name)).not.toContain('natter-canary');
      });

      test('every selector matches the pods that it is meant for', () => {
        const labelled = of(objects, 'Deployment').map(
          ({ spec }) => spec.template.metadata.labels as Record<string, string>,
        );
        const matches = (selector: Record<string, string>): number =>
          labelled.filter((labels) => Object.entries(selector).every(([key, value]) => labels[key] === value)).length;
        for (const { spec } of of(objects, 'PodDisruptionBudget')) expect(matches(spec.selector.matchLabels)).toBe(1);
        expect(matches(named(objects, 'Service', 'natter-gateway').spec.selector)).toBe(1);
        const pods = of(objects, 'Deployment').length;
        expect(matches(named(objects, 'NetworkPolicy', 'natter-default-deny').spec.podSelector.matchLabels)).toBe(pods);
      });

      test('network policies open only the required ports', () => {
        expect(named(objects, 'NetworkPolicy', 'natter-default-deny').spec).not.toHaveProperty('ingress');
        for (const service of services) {
          const { spec } = named(objects, 'NetworkPolicy', `natter-${service}`);
          const ports = spec.ingress.flatMap((rule: { ports: { port: number }[] }) =>
            rule.ports.map(({ port }) => port),
          );
          expect(ports).toEqual(service === 'gateway' ? [9991, 9100] : [9100]);
          const out = spec.egress.flatMap((rule: { ports: { port: number }[] }) => rule.ports.map(({ port }) => port));
          expect(out.includes(5432), `${service} reaches Postgres`).toBe(service !== 'gateway');
        }
      });
    });

    test('every credential comes from an existing Secret, one per service', () => {
      for (const service of services) {
        const [container] = podOf(named(render(), 'Deployment', `natter-${service}`)).containers;
        expect(container.envFrom).toEqual([{ secretRef: { name: `natter-${service}-credentials` } }]);
      }
      const own = render({
        values: { services: { users: { existingSecret: 'mine' } }, operator: { existingSecret: 'admin' } },
      });
      expect(podOf(named(own, 'Deployment', 'natter-users')).containers[0].envFrom[0].secretRef.name).toBe('mine');
      expect(podOf(named(own, 'Job', 'natter-migrate-1')).containers[0].envFrom[0].secretRef.name).toBe('admin');
      expect(of(own, 'Secret')).toEqual([]);
    });

    test('a service without autoscaling has the given number of replicas', () => {
      const objects = render({
        values: { defaults: { autoscaling: { enabled: false } }, services: { users: { replicas: 3 } } },
      });
      expect(of(objects, 'HorizontalPodAutoscaler')).toEqual([]);
      expect(named(objects, 'Deployment', 'natter-users').spec.replicas).toBe(3);
      expect(named(objects, 'Deployment', 'natter-messaging').spec.replicas).toBe(2);
    });

    test('KEDA scales by held polls and requests, but only if it can query Prometheus', () => {
      const options = clusters['a cluster with KEDA and Prometheus'];
      const objects = render(options);
      const byKeda = of(objects, 'ScaledObject').map(({ metadata }) => metadata.name);
      expect(byKeda.sort()).toEqual(['natter-event-queue', 'natter-gateway', 'natter-presence']);
      const [trigger] = named(objects, 'ScaledObject', 'natter-gateway').spec.triggers;
      expect(trigger.metadata.query).toBe('sum(natter_held_polls{namespace="chat",service="gateway"})');
      expect(of(render({ ...options, values: everything }), 'ScaledObject')).toEqual([]);
    });

    test('every setting of the settings page can be given and reaches the service that reads it', () => {
      // Provided by the Secrets, by the image, or by a chart value with another name.
      const otherwise = [
        ...['NATTER_NATS_URL', 'NATTER_REDIS_URL', 'NATTER_POSTGRES_URL', 'NATTER_BOT_KEY_SECRET', 'NATTER_SMTP_URL'],
        ...['NATTER_OPERATIONS_HOST', 'NATTER_OPERATIONS_PORT', 'NATTER_HTTP_HOST', 'NATTER_HTTP_PORT'],
        ...['NATTER_HTTP_FD', 'NATTER_TRUSTED_PROXIES', 'NATTER_LOG_LEVEL', 'NATTER_DRAIN_MS', 'NATTER_MAIL_FROM'],
        ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'NATTER_BOT_KEY_SECRET_PREVIOUS'],
      ];
      const page = readFileSync(join(chart, '..', '..', '..', 'docs', 'settings.md'), 'utf8').split(
        /^## (?:Canary|`npm)/m,
      )[0];
      const names = [
        ...new Set([...(page ?? '').matchAll(/^\| `([A-Z_]+)` \| (?:`(.*?)`)?/gm)].map(([, name = '']) => name)),
      ];
      const settable = names.filter((name) => !otherwise.includes(name));
      const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
      expect(Object.keys(schema.properties.settings.properties).sort()).toEqual(settable.sort());
      const settings = Object.fromEntries(
        settable.map((name) => {
          const { type, maximum } = schema.properties.settings.properties[name];
          return [name, { boolean: false, string: '192.0.2.0/24' }[String(type)] ?? maximum ?? 7_000_000];
        }),
      );
      const objects = render({ values: { settings } });
      for (const service of services) {
        const [container] = podOf(named(objects, 'Deployment', `natter-${service}`)).containers;
        for (const [name, value] of Object.entries(settings))
          expect(container.env, service).toContainEqual({ name, value: String(value) });
      }
      expect(refusal({ settings: { NATTER_RATE_LIMITS: 1 } })).toContain('NATTER_RATE_LIMITS');
      expect(refusal({ settings: { NATTER_RATE_LIMIT: 'many' } })).toContain('NATTER_RATE_LIMIT');
    });

    test('only the users service reads the mail server from its Secret and can reach it', () => {
      const mail = { from: 'Chat <chat@example.com>', existingSecret: 'mail' };
      const objects = render({ values: { mail, networkPolicy: { mail: { ports: [2465], to: [] } } } });
      const wanted = [
        { name: 'NATTER_MAIL_FROM', value: mail.from },
        { name: 'NATTER_SMTP_URL', valueFrom: { secretKeyRef: { name: 'mail', key: 'NATTER_SMTP_URL' } } },
      ];
      for (const service of services) {
        const [container] = podOf(named(objects, 'Deployment', `natter-${service}`)).containers;
        const mailSettings = container.env.filter(({ name }: { name: string }) => /MAIL|SMTP/.test(name));
        expect(mailSettings, service).toEqual(service === 'users' ? wanted : []);
        const ports = JSON.stringify(named(objects, 'NetworkPolicy', `natter-${service}`).spec.egress);
        expect(ports.includes('2465'), service).toBe(service === 'users');
      }
      const names = podOf(named(render(), 'Deployment', 'natter-users')).containers[0].env;
      expect(JSON.stringify(names)).not.toMatch(/MAIL|SMTP/);
    });

    test('migrations run before an installation or upgrade changes anything else', () => {
      const { metadata } = named(render(), 'Job', 'natter-migrate-1');
      expect(metadata.annotations['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    });

    test('every pod runs as the given ServiceAccount, but the migrations not before the release creates it', () => {
      const accountsOf = (values: Record<string, unknown>): Set<string> =>
        new Set(
          render({ values: { ...everything, ...values } })
            .filter((object) => isWorkload(object) && !/-(postgres|redis|nats)$/.test(object.metadata.name))
            .map((object) => `${object.kind}: ${podOf(object).serviceAccountName}`),
        );
      const all = (name: string, ofJob = name) =>
        new Set([`Deployment: ${name}`, `CronJob: ${name}`, `Pod: ${name}`, `Job: ${ofJob}`]);
      expect(accountsOf({ serviceAccount: { create: false, name: 'ours' } })).toEqual(all('ours'));
      expect(accountsOf({ serviceAccount: { create: false } })).toEqual(all('default'));
      expect(accountsOf({ serviceAccount: { name: 'ours' } })).toEqual(all('ours', 'default'));
      const evaluated = { evaluation: { enabled: true }, serviceAccount: { name: 'ours' } };
      expect(accountsOf(evaluated)).toEqual(all('ours'));
    });

    test('the objects use API versions that the cluster supports', () => {
      const versions = (options: RenderOptions): Record<string, string> =>
        Object.fromEntries(
          render({ values: everything, ...options }).map(({ kind, apiVersion }) => [kind, apiVersion]),
        );
      expect(versions({})).toMatchObject({
        PodDisruptionBudget: 'policy/v1',
        HorizontalPodAutoscaler: 'autoscaling/v2',
        Ingress: 'networking.k8s.io/v1',
      });
      expect(versions({ kubeVersion: '1.19.0', apiVersions: [] })).toMatchObject({
        PodDisruptionBudget: 'policy/v1beta1',
        HorizontalPodAutoscaler: 'autoscaling/v2beta2',
      });
    });

    test('the ingress sends each realm to one gateway and does not time out long polls', () => {
      const { annotations } = named(render({ values: everything }), 'Ingress', 'natter').metadata;
      expect(annotations['nginx.ingress.kubernetes.io/upstream-hash-by']).toBe('$host');
      expect(Number(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'])).toBeGreaterThan(90);
    });

    test('the release contains the monitoring rules and dashboards', () => {
      const objects = render(clusters['a cluster with KEDA and Prometheus']);
      const [rule] = of(objects, 'PrometheusRule');
      expect(rule?.spec.groups.length).toBeGreaterThan(0);
      const dashboards = of(objects, 'ConfigMap').filter(({ metadata }) => metadata.labels.grafana_dashboard === '1');
      expect(dashboards.length).toBeGreaterThanOrEqual(8);
      for (const { data } of dashboards) for (const text of Object.values(data)) JSON.parse(String(text));
    });

    test('the NATS permissions of evaluation mode are those of the services (npm run ts deploy/helm/server-users.ts)', () => {
      expect(readFileSync(natsUsersFile, 'utf8')).toBe(natsUsersText());
      const text = String(named(render({ values: evaluation }), 'Secret', 'natter-nats').stringData['nats.conf']);
      for (const user of natsUsers)
        expect(text).toMatch(new RegExp(`user: "${user}", password: "\\w+", permissions: {`));
      for (const user of natsUsers) expect(text).toContain(`permissions: ${natsPermissionsText(user)} }`);
    });

    test('the Redis permissions of evaluation mode are those of the services (npm run ts deploy/helm/server-users.ts)', () => {
      expect(readFileSync(redisUsersFile, 'utf8')).toBe(redisUsersText());
      const objects = render({ values: evaluation });
      const lines = String(named(objects, 'Secret', 'natter-redis').stringData['users.acl'])
        .trim()
        .split('\n');
      expect(lines[0]).toBe('user default off');
      for (const user of natsUsers) {
        const { NATTER_REDIS_URL } = named(objects, 'Secret', `natter-${user}-credentials`).stringData;
        const { username, password } = new URL(NATTER_REDIS_URL);
        expect(lines).toContain(`user ${username} on >${password} ${redisRules(user)}`);
      }
      const passwords = lines.map((line) => />(\S+)/.exec(line)?.[1]);
      expect(new Set(passwords).size).toBe(lines.length);
    });

    test('in evaluation mode, services and servers have the same passwords', () => {
      const objects = render({ values: evaluation });
      const conf = String(named(objects, 'Secret', 'natter-nats').stringData['nats.conf']);
      const operator = named(objects, 'Secret', 'natter-operator-credentials').stringData;
      for (const service of services) {
        const own = named(objects, 'Secret', `natter-${service}-credentials`).stringData;
        expect(conf).toContain(`user: "${service}", password: "${new URL(own.NATTER_NATS_URL).password}"`);
        if (service === 'gateway') continue;
        const url = new URL(own.NATTER_POSTGRES_URL);
        const schema = url.username.replace('natter_', '').toUpperCase();
        expect(url.password).toBe(operator[`NATTER_POSTGRES_PASSWORD_${schema}`]);
      }
    });

    test('every value of the schema has its default in values.yaml', () => {
      const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
      const text = readFileSync(join(chart, 'values.yaml'), 'utf8');
      for (const name of Object.keys(schema.properties))
        if (name !== 'global') expect(text).toMatch(new RegExp(`^${name}:`, 'm'));
    });
  },
);
