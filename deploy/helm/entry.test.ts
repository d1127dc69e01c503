import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { isWorkload, named, of, podOf } from './objects.ts';
import { currentApis, extensions, helm, render, renderNotes } from './render.ts';

const gatewayService = (service: Record<string, unknown>): Record<string, unknown> =>
  named(render({ values: { gateway: { service } } }), 'Service', 'natter-gateway').spec;
const withExtensions = { apiVersions: [...currentApis, ...extensions] };
const pullSecrets = ['registry', 'other'];

describe.skipIf(helm === undefined)(
  `in the chart${helm === undefined ? ': SKIPPED: there is no helm binary' : ''}`,
  () => {
    test('the Service has the given type, port, policy and source ranges', () => {
      expect(gatewayService({})).toMatchObject({ type: 'ClusterIP', ports: [{ port: 80 }] });
      expect(JSON.stringify(gatewayService({}))).not.toMatch(/nodePort|externalTrafficPolicy|loadBalancer/);
      const ranges = ['192.0.2.0/24', '2001:db8::/32'];
      const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', loadBalancerSourceRanges: ranges };
      expect(gatewayService({ ...balanced, port: 443, nodePort: 30443 })).toMatchObject({
        ...balanced,
        ports: [{ name: 'http', port: 443, targetPort: 'http', nodePort: 30443 }],
      });
    });

    test('a gateway that clients reach without a proxy trusts no address unless one is given', () => {
      const trusted = (gateway: Record<string, unknown>): string =>
        podOf(named(render({ values: { gateway } }), 'Deployment', 'natter-gateway')).containers[0].env.find(
          ({ name }: { name: string }) => name === 'NATTER_TRUSTED_PROXIES',
        ).value;
      const inside = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16';
      for (const type of ['NodePort', 'LoadBalancer']) {
        expect(trusted({ service: { type } }), type).toBe('');
        expect(trusted({ service: { type }, trustedProxies: ['192.0.2.7', 'fd00::/8'] })).toBe('192.0.2.7,fd00::/8');
      }
      expect([trusted({}), trusted({ trustedProxies: null }), trusted({ trustedProxies: [] })]).toEqual([
        inside,
        inside,
        '',
      ]);
    });

    test('the ingress lets the largest upload through, unless its limit is given', () => {
      const name = 'nginx.ingress.kubernetes.io/proxy-body-size';
      const limit = (values: Record<string, unknown>, annotations = {}): unknown => {
        const ingress = { enabled: true, hosts: ['chat.example.com'], annotations };
        return named(render({ values: { ...values, ingress } }), 'Ingress', 'natter').metadata.annotations[name];
      };
      const settings = { NATTER_MAX_UPLOAD_MIB: 200 };
      expect([limit({}), limit({ settings }), limit({ settings }, { [name]: '1g' })]).toEqual(['26m', '201m', '1g']);
      // The setting of the gateway overrides the common setting, as in the gateway itself.
      expect(limit({ settings, services: { gateway: { env: { NATTER_MAX_UPLOAD_MIB: 1024 } } } })).toBe('1025m');
      expect(limit({ settings: { NATTER_MAX_UPLOAD_MIB: 1 } })).toBe('26m');
      expect(limit({ settings }, { [name]: null })).toBeUndefined();
    });

    test('an HTTPRoute connects the Gateway to the gateway and does not time out polls or WebSockets', () => {
      const parentRefs = [{ name: 'public', namespace: 'gateways', sectionName: 'https' }];
      const httpRoute = { enabled: true, parentRefs, hostnames: ['chat.example.com'] };
      const route = named(render({ values: { httpRoute } }), 'HTTPRoute', 'natter');
      expect(route.apiVersion).toBe('gateway.networking.k8s.io/v1');
      expect(route.spec).toEqual({
        parentRefs,
        hostnames: ['chat.example.com'],
        rules: [
          {
            matches: [{ path: { type: 'PathPrefix', value: '/' } }],
            timeouts: { request: '0s', backendRequest: '0s' },
            backendRefs: [{ name: 'natter-gateway', port: 80 }],
          },
        ],
      });
      expect(of(render(), 'HTTPRoute')).toEqual([]);
    });

    test('a ServiceMonitor covers the operations port of every service', () => {
      const monitoring = {
        podMonitor: { enabled: false },
        serviceMonitor: { enabled: true, labels: { release: 'p' } },
      };
      const objects = render({ values: { monitoring }, ...withExtensions });
      expect(of(objects, 'PodMonitor')).toEqual([]);
      const [monitor] = of(objects, 'ServiceMonitor');
      const service = named(objects, 'Service', 'natter-operations');
      expect(monitor?.metadata.labels.release).toBe('p');
      expect(service.metadata.labels).toMatchObject(monitor?.spec.selector.matchLabels);
      expect(
        of(objects, 'Service').filter(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'operations')
          .length,
      ).toBe(1);
      expect(monitor?.spec.endpoints[0]).toMatchObject({ port: service.spec.ports[0].name, path: '/metrics' });
      for (const { spec } of of(objects, 'Deployment')) {
        expect(spec.template.metadata.labels).toMatchObject(service.spec.selector);
        const ports = spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name);
        expect(ports).toContain(service.spec.ports[0].targetPort);
      }
      expect(of(render({ values: { monitoring } }), 'ServiceMonitor')).toEqual([]);
    });

    test('without KEDA, presence, event-queue and gateway scale by their own metrics', () => {
      const objects = render({ values: { autoscaling: { customMetrics: true } } });
      const metrics = (service: string): unknown[] =>
        named(objects, 'HorizontalPodAutoscaler', `natter-${service}`).spec.metrics.slice(1);
      const pods = (name: string, averageValue: string): unknown => ({
        type: 'Pods',
        pods: { metric: { name }, target: { type: 'AverageValue', averageValue } },
      });
      expect(metrics('gateway')).toEqual([pods('natter_held_polls', '5000')]);
      expect(metrics('presence')).toEqual([pods('natter_requests_per_second', '1500')]);
      expect(metrics('event-queue')).toEqual([pods('natter_requests_per_second', '500')]);
      expect(metrics('messaging')).toEqual([]);
    });

    test('an upgrade may change from HPAs to KEDA and back, although both exist for a moment', () => {
      const hpas = of(render(), 'HorizontalPodAutoscaler');
      // KEDA then accepts a ScaledObject for the same workload.
      for (const { metadata } of hpas)
        expect(metadata.annotations, metadata.name).toEqual({ 'validations.keda.sh/hpa-ownership': 'false' });
      const values = { autoscaling: { prometheusAddress: 'http://prometheus:9090' } };
      const scaled = of(render({ values, ...withExtensions }), 'ScaledObject');
      expect(scaled).toHaveLength(3);
      // An HPA of KEDA with the name of one of the chart's would be deleted with its ScaledObject after an upgrade back.
      const names = hpas.map(({ metadata }) => metadata.name);
      for (const { metadata, spec } of scaled) {
        const { name = `keda-hpa-${metadata.name}` } = spec.advanced.horizontalPodAutoscalerConfig;
        expect(names).not.toContain(name);
      }
    });

    test('a scaled service begins with its minimum of replicas, unless the chart is rendered without a cluster', () => {
      const values = { services: { gateway: { autoscaling: { minReplicas: 3 } } } };
      expect(named(render({ values }), 'Deployment', 'natter-gateway').spec.replicas).toBe(3);
      expect(named(render({ values }), 'Deployment', 'natter-users').spec.replicas).toBe(2);
      const argo = render({ values: { ...values, autoscaling: { setReplicas: false } } });
      expect(named(argo, 'Deployment', 'natter-gateway').spec).not.toHaveProperty('replicas');
    });

    test('a setting of one service replaces the common setting and appears once', () => {
      const values = {
        settings: { NATTER_RATE_LIMIT: 500 },
        services: { gateway: { env: { NATTER_RATE_LIMIT: 900 } } },
      };
      const given = (service: string): unknown[] =>
        podOf(named(render({ values }), 'Deployment', `natter-${service}`)).containers[0].env.filter(
          ({ name }: { name: string }) => name === 'NATTER_RATE_LIMIT',
        );
      expect(given('gateway')).toEqual([{ name: 'NATTER_RATE_LIMIT', value: '900' }]);
      expect(given('users')).toEqual([{ name: 'NATTER_RATE_LIMIT', value: '500' }]);
    });

    test('a topology spread over nodes is one constraint, because Kubernetes rejects a duplicate key', () => {
      const keys = (topologyKey: string): string[] =>
        podOf(
          named(render({ values: { defaults: { topologySpread: { topologyKey } } } }), 'Deployment', 'natter-users'),
        ).topologySpreadConstraints.map((constraint: { topologyKey: string }) => constraint.topologyKey);
      expect(keys('kubernetes.io/hostname')).toEqual(['kubernetes.io/hostname']);
      expect(keys('topology.kubernetes.io/zone')).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
    });

    test('every pod uses the given pull secrets', () => {
      const isOn = { enabled: true };
      const values = {
        image: { pullSecrets },
        evaluation: isOn,
        services: { canary: isOn },
        backup: isOn,
        doctor: isOn,
      };
      const workloads = render({ values }).filter(isWorkload);
      const kinds = ['Deployment', 'StatefulSet', 'Job', 'CronJob', 'Pod'];
      expect(new Set(workloads.map(({ kind }) => kind))).toEqual(new Set(kinds));
      for (const workload of workloads)
        expect(podOf(workload).imagePullSecrets, workload.metadata.name).toEqual(pullSecrets.map((name) => ({ name })));
    });
  },
);

describe.skipIf(helm === undefined)(`notes${helm === undefined ? ': SKIPPED: there is no helm binary' : ''}`, () => {
  /** The pod that the second step makes, as a shell passes it to kubectl. */
  const podOfNotes = (notes: string): Record<string, unknown> => {
    const command = /kubectl -n chat run[\s\S]*?--overrides='.*'$/m.exec(notes)?.[0] ?? '';
    const script = `kubectl() { while [ $# -gt 0 ]; do case "$1" in --overrides=*) printf %s "\${1#--overrides=}";; esac; shift; done; }`;
    const { stdout, status, stderr } = spawnSync(
      'sh',
      ['-c', `${script}\nHOST=h.example OWNER=o@h.example\n${command}`],
      {
        encoding: 'utf8',
      },
    );
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout).spec;
  };

  test.each([
    ['plain', {}],
    ['evaluation', { evaluation: { enabled: true } }],
    [
      'given',
      {
        image: { pullSecrets },
        operator: { existingSecret: 'mine' },
        serviceAccount: { create: false, name: 'ours' },
      },
    ],
  ])('describe a pod for the first realm that meets the restricted standard and has its Secret: %s', (_, values) => {
    const pod = podOfNotes(renderNotes({ values }));
    const doctor = podOf(named(render({ values }), 'Pod', 'natter-doctor'));
    const [container] = doctor.containers;
    expect(pod).toEqual({
      serviceAccountName: doctor.serviceAccountName,
      automountServiceAccountToken: false,
      imagePullSecrets: doctor.imagePullSecrets ?? [],
      securityContext: doctor.securityContext,
      containers: [
        {
          name: 'natter-first-realm',
          image: container.image,
          imagePullPolicy: container.imagePullPolicy,
          args: [
            'realm',
            'create',
            '--host',
            'h.example',
            '--name',
            'Example',
            '--owner-email',
            'o@h.example',
            '--default',
          ],
          securityContext: container.securityContext,
          envFrom: container.envFrom,
        },
      ],
    });
  });

  test('define a function that runs any command in a pod like that of the doctor', () => {
    const values = { image: { pullSecrets }, operator: { existingSecret: 'mine' } };
    const notes = renderNotes({ values });
    const definition = /^ +natter\(\) \{\n[\s\S]*?\n +\}$/m.exec(notes)?.[0] ?? '';
    const script = `kubectl() { printf '%s\\0' "$@"; }\n${definition}\nnatter user create --name "Ann  Lee" --json`;
    const { stdout, status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    const given = stdout.split('\0').slice(0, -1);
    expect(given.slice(given.indexOf('--'))).toEqual(['--', 'user', 'create', '--name', 'Ann  Lee', '--json']);
    const option = (name: string): string =>
      given.find((one) => one.startsWith(`--${name}=`))?.split(/=(.*)/s)[1] ?? '';
    const objects = render({ values });
    const doctor = podOf(named(objects, 'Pod', 'natter-doctor'));
    const [container] = doctor.containers;
    expect(option('image')).toBe(container.image);
    // Kubernetes merges the container with the one that has the arguments, by its name: that of the pod.
    expect(JSON.parse(option('overrides')).spec).toEqual({
      serviceAccountName: doctor.serviceAccountName,
      automountServiceAccountToken: false,
      imagePullSecrets: doctor.imagePullSecrets,
      securityContext: doctor.securityContext,
      containers: [
        {
          name: given[given.indexOf('run') + 1],
          imagePullPolicy: container.imagePullPolicy,
          securityContext: container.securityContext,
          envFrom: [{ secretRef: { name: 'mine' } }],
        },
      ],
    });
    const labels = Object.fromEntries(
      option('labels')
        .split(',')
        .map((pair) => pair.split('=')),
    );
    expect(labels).toMatchObject(named(objects, 'NetworkPolicy', 'natter-operator').spec.podSelector.matchLabels);
  });

  test('name only objects that exist in the release', () => {
    const values = { evaluation: { enabled: true }, gateway: { service: { port: 8080 } } };
    const notes = renderNotes({ values });
    const objects = render({ values });
    const service = /port-forward service\/(\S+) 9991:(\d+)/.exec(notes);
    expect(named(objects, 'Service', service?.[1] ?? '').spec.ports[0].port).toBe(Number(service?.[2]));
    const labels = Object.fromEntries(
      (/--labels=(\S+)/.exec(notes)?.[1] ?? '').split(',').map((pair) => pair.split('=')),
    );
    expect(labels).toMatchObject(named(objects, 'NetworkPolicy', 'natter-operator').spec.podSelector.matchLabels);
    expect(notes).toContain('EVALUATION MODE');
    expect(notes).toContain('wait deployment -l app.kubernetes.io/instance=natter ');
  });

  test('name a reachable host, never a wildcard', () => {
    const hosts = ['*.chat.example.com', 'chat.example.com'];
    const tls = [{ secretName: 'tls' }];
    const url = (values: Record<string, unknown>): string | undefined =>
      /^ +(HOST=\S+) [\s\S]*^ +(URL=\S+)/m.exec(renderNotes({ values }))?.slice(1).join(' ');
    expect(url({ ingress: { enabled: true, hosts, tls } })).toBe('HOST=chat.example.com URL=https://$HOST');
    expect(url({ ingress: { enabled: true, hosts } })).toBe('HOST=chat.example.com URL=http://$HOST');
    expect(url({ httpRoute: { enabled: true, parentRefs: [{ name: 'p' }], hostnames: ['a.example'] } })).toBe(
      'HOST=a.example URL=https://$HOST',
    );
    expect(url({ ingress: { enabled: true, hosts: ['*.example.com'] } })).toBe(
      'HOST=chat.example.com URL=http://127.0.0.1:9991',
    );
    expect(renderNotes({})).not.toContain('EVALUATION');
    expect(renderNotes({ values: { services: { canary: { enabled: true } } } })).toContain('natter-canary-credentials');
  });
});
