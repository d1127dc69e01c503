import { createHash } from 'node:crypto';
import { cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWorkload, named, of, podOf } from './objects.ts';
import { chart, helm, type KubernetesObject, render, renderNotes } from './render.ts';

const evaluation = { enabled: true };
const servers = ['postgres', 'redis', 'nats'];
const services = ['users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'];

describe.skipIf(helm === undefined)(
  `in evaluation mode${helm === undefined ? ': SKIPPED: there is no helm binary' : ''}`,
  () => {
    let newer: string;
    beforeAll(() => {
      newer = mkdtempSync(join(tmpdir(), 'natter-newer-chart-'));
      cpSync(chart, newer, { recursive: true });
      const file = join(newer, 'Chart.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^(version|appVersion): .*$/gm, '$1: 9.9.9+build.1'));
    });
    afterAll(() => rmSync(newer, { recursive: true }));

    /** All that a pod is made from; the random secret of each rendering, and what follows from it, is checked apart. */
    const template = (objects: KubernetesObject[], name: string): unknown => {
      const found = objects.find(({ kind, metadata }) => /Deployment|StatefulSet/.test(kind) && metadata.name === name);
      const { 'natter.io/credentials': credentials, ...annotations } = found?.spec.template.metadata.annotations ?? {};
      expect(found?.spec.template.metadata.labels).toBeTruthy();
      const metadata = { ...found?.spec.template.metadata, annotations };
      return { ...found?.spec, template: { ...found?.spec.template, metadata } };
    };

    test('a new image tag does not replace pods of the servers, and a new chart version does not replace any pod', () => {
      const before = render({ values: { evaluation } });
      const tagged = render({ values: { evaluation, image: { tag: '2.0.0' } } });
      const values = { evaluation, image: { tag: '0.1.0' } };
      const upgraded = render({ values }, newer);
      for (const server of servers) {
        expect(template(tagged, `natter-${server}`), server).toEqual(template(before, `natter-${server}`));
        expect(template(upgraded, `natter-${server}`), server).toEqual(template(before, `natter-${server}`));
      }
      for (const service of ['gateway', ...services]) {
        expect(template(upgraded, `natter-${service}`), service).toEqual(template(before, `natter-${service}`));
        expect(template(tagged, `natter-${service}`), service).not.toEqual(template(before, `natter-${service}`));
      }
      expect(named(upgraded, 'Deployment', 'natter-nats').metadata.labels['helm.sh/chart']).toBe(
        'natter-9.9.9_build.1',
      );
    });

    test('the pods of Redis and NATS are replaced only if the secret or their users change', () => {
      const objects = render({ values: { evaluation } });
      const { secret } = named(objects, 'Secret', 'natter-evaluation').stringData;
      for (const server of ['redis', 'nats']) {
        const users = readFileSync(join(chart, 'files', `${server}-users.yaml`), 'utf8');
        const { annotations } = named(objects, 'Deployment', `natter-${server}`).spec.template.metadata;
        const sum = createHash('sha256').update(`${secret}${users}`).digest('hex');
        expect(annotations).toEqual({ 'natter.io/credentials': sum });
      }
    });

    test('the secret is kept after the release is deleted, like the volume claim of Postgres', () => {
      const objects = render({ values: { evaluation } });
      const kept = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep');
      expect(kept.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual(['Secret/natter-evaluation']);
      const [claim] = named(objects, 'StatefulSet', 'natter-postgres').spec.volumeClaimTemplates;
      expect(renderNotes({ values: { evaluation } })).toContain(
        `delete secret/natter-evaluation pvc/${claim.metadata.name}-natter-postgres-0`,
      );
    });

    test('two releases in one namespace do not share objects or select pods of each other', () => {
      const [one, two] = ['natter', 'second'].map((release) => render({ release, values: { evaluation } }));
      const names = (objects: KubernetesObject[] = []): string[] =>
        objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(names(one).filter((name) => names(two).includes(name))).toEqual([]);
      const selectors = (one ?? []).flatMap(({ kind, spec }) => {
        if (kind === 'Service') return [spec.selector];
        return [spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels].filter(Boolean);
      });
      expect(selectors.length).toBeGreaterThan(20);
      for (const selector of selectors) expect(selector['app.kubernetes.io/instance']).toBe('natter');
      const secrets = new Set(names(one).filter((name) => name.startsWith('Secret/')));
      for (const workload of (one ?? []).filter(isWorkload))
        for (const container of podOf(workload).containers)
          for (const { secretRef } of container.envFrom ?? []) expect(secrets).toContain(`Secret/${secretRef.name}`);
    });

    test('values set the storage, images and sizes of the servers', () => {
      const resources = { redis: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '2Gi' } } };
      const images = {
        postgresImage: 'r.example/pg:1',
        redisImage: 'r.example/redis:1',
        natsImage: 'r.example/nats:1',
      };
      const objects = render({
        values: { evaluation: { ...evaluation, ...images, storage: '7Gi', storageClass: 'fast', resources } },
      });
      const [claim] = named(objects, 'StatefulSet', 'natter-postgres').spec.volumeClaimTemplates;
      expect(claim.spec).toMatchObject({ storageClassName: 'fast', resources: { requests: { storage: '7Gi' } } });
      for (const server of servers) {
        const kind = server === 'postgres' ? 'StatefulSet' : 'Deployment';
        const [container] = podOf(named(objects, kind, `natter-${server}`)).containers;
        expect(container.image).toBe(Object.entries(images).find(([name]) => name.startsWith(server))?.[1]);
        if (server === 'redis') expect(container.resources).toEqual(resources.redis);
      }
    });

    test('Redis refuses writes before its container reaches its memory limit', () => {
      const argsWith = (limits: object): string[] => {
        const values = { evaluation: { ...evaluation, resources: { redis: { requests: { memory: '1Mi' }, limits } } } };
        const [container] = podOf(named(render({ values }), 'Deployment', 'natter-redis')).containers;
        return container.args;
      };
      const after = (args: string[], name: string) => args[args.indexOf(name) + 1];
      const byDefault = podOf(named(render({ values: { evaluation } }), 'Deployment', 'natter-redis')).containers[0];
      expect(byDefault.resources.limits.memory).toBe('512Mi');
      expect(after(byDefault.args, '--maxmemory')).toBe(String(384 * 1024 * 1024));
      expect(after(byDefault.args, '--maxmemory-policy')).toBe('noeviction');
      expect(after(argsWith({ memory: '2Gi' }), '--maxmemory')).toBe(String(1536 * 1024 * 1024));
      expect(after(argsWith({ memory: '1e9' }), '--maxmemory')).toBe('750000000');
      expect(argsWith({ memory: null })).not.toContain('--maxmemory');
    });

    test('each service with tables waits for its schema, and the migration waits for Postgres', () => {
      for (const values of [{}, { evaluation }]) {
        const objects = render({ values });
        for (const service of services) {
          const { initContainers, containers } = podOf(named(objects, 'Deployment', `natter-${service}`));
          expect(initContainers[0].args.slice(0, 2)).toEqual(['await-schema', '--wait']);
          expect(initContainers[0].envFrom).toEqual(containers[0].envFrom);
          expect(initContainers[0].image).toBe(containers[0].image);
        }
        const [job] = of(objects, 'Job');
        const [, , seconds] = podOf(job as KubernetesObject).containers[0].args;
        expect(Number(seconds)).toBeGreaterThan(60);
        expect(Number(seconds)).toBeLessThan(job?.spec.activeDeadlineSeconds);
      }
    });

    test('the chart folder has no links to files outside it', () => {
      const links = readdirSync(chart, { recursive: true, encoding: 'utf8' }).filter((path) =>
        lstatSync(join(chart, path)).isSymbolicLink(),
      );
      expect(links).toEqual([]);
    });
  },
);
