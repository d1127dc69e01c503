import { describe, expect, test } from 'vitest';
import { named } from './objects.ts';
import { helm, type KubernetesObject, render } from './render.ts';

const services = ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'];

describe.skipIf(helm === undefined)(
  `in the chart${helm === undefined ? ': SKIPPED: there is no helm binary' : ''}`,
  () => {
    test('only the scheduler can reach the addresses of outgoing webhook bots', () => {
      const objects = render({ values: { networkPolicy: { webhooks: { ports: [8080], to: [] } } } });
      for (const service of services) {
        const ports = JSON.stringify(named(objects, 'NetworkPolicy', `natter-${service}`).spec.egress);
        expect(ports.includes('8080'), service).toBe(service === 'scheduler');
      }
    });

    test('only messaging can reach other sites, at the given ports and places', () => {
      const to = [{ ipBlock: { cidr: '10.9.0.0/16' } }];
      const objects = render({ values: { networkPolicy: { externalContent: { ports: [80, 8443], to } } } });
      const wanted = { ports: [80, 8443].map((port) => ({ port, protocol: 'TCP' })), to };
      for (const service of services) {
        const { egress } = named(objects, 'NetworkPolicy', `natter-${service}`).spec;
        expect(JSON.stringify(egress).includes('8443'), service).toBe(service === 'messaging');
        if (service === 'messaging') expect(egress).toContainEqual(wanted);
      }
      const { egress } = named(render(), 'NetworkPolicy', 'natter-messaging').spec;
      expect(egress).toContainEqual({ ports: [80, 443].map((port) => ({ port, protocol: 'TCP' })) });
    });

    test('the migrations of an upgrade reach servers that the policies of the previous release do not allow', () => {
      const to = [{ ipBlock: { cidr: '10.9.0.0/16' } }];
      const objects = render({ values: { networkPolicy: { postgres: { ports: [5433], to } } } });
      const policy = named(objects, 'NetworkPolicy', 'natter-migrate');
      const job = named(objects, 'Job', 'natter-migrate-1');
      expect(job.spec.template.metadata.labels).toMatchObject(policy.spec.podSelector.matchLabels);
      const hookOf = ({ metadata }: KubernetesObject) => metadata.annotations['helm.sh/hook'];
      const weightOf = ({ metadata }: KubernetesObject) => Number(metadata.annotations['helm.sh/hook-weight']);
      expect([hookOf(policy), weightOf(policy) < weightOf(job)]).toEqual([hookOf(job), true]);
      expect(policy.spec.policyTypes).toEqual(['Egress']);
      expect(policy.spec.egress).toContainEqual({ ports: [{ port: 5433, protocol: 'TCP' }], to });
      expect(policy.spec.egress).toEqual([
        ...named(objects, 'NetworkPolicy', 'natter-default-deny').spec.egress,
        ...named(objects, 'NetworkPolicy', 'natter-operator').spec.egress,
      ]);
    });

    test('the network policies allow the ports of the given URLs', () => {
      const portsOf = (values: Record<string, unknown>, service: string): unknown =>
        named(render({ values }), 'NetworkPolicy', `natter-${service}`).spec.egress.flatMap(
          ({ ports }: { ports: { port: number }[] }) => ports.map(({ port }) => port),
        );
      const canary = { services: { canary: { enabled: true } } };
      expect(portsOf({ ...canary, canaryUrl: 'https://chat.example.com:8443' }, 'canary')).toEqual([
        80, 443, 9991, 8443,
      ]);
      expect(portsOf({ ...canary, canaryUrl: 'https://chat.example.com/' }, 'canary')).toEqual([80, 443, 9991]);
      for (const [endpoint, port] of [
        ['https://otlp.example.com', 443],
        ['http://collector/v1', 80],
        ['http://[fd00::1]:4317', 4317],
        ['http://[fd00::1]', 80],
      ] as const)
        expect(portsOf({ tracing: { endpoint } }, 'gateway'), endpoint).toEqual([6379, 4222, 4318, port]);
    });
  },
);
