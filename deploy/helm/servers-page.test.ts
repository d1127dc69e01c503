import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentsOf } from '@natter/admin/credentials';
import { kubernetesSecrets } from '@natter/admin/kubernetes-secrets';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isWorkload, named, podOf } from './objects.ts';
import { helm, refusal, render } from './render.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operating', 'servers.md'), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: values of other charts.
type Values = any;
const [postgres, redis, nats, natter] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
  ([, text = '']): Values => parse(text),
);
const commands = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
const made = [...commands.matchAll(/create secret generic (\S+)/g)].map(([, name]) => name);
const addressOf = (server: string): URL =>
  new URL((new RegExp(`${server}://[^"\\s]+`).exec(commands)?.[0] ?? '').replace('$PASSWORD', 'password'));

test('the servers take the Secrets that the commands make', () => {
  expect(made).toEqual(['natter-database', 'natter-redis-users', 'natter-nats-users']);
  expect(postgres.spec.bootstrap.initdb.secret.name).toBe(made[0]);
  expect(redis.extraValkeySecrets[0].name).toBe(made[1]);
  expect(nats.podTemplate.patch[0].value.secret.secretName).toBe(made[2]);
  // Each file is where its server looks for it.
  expect(redis.valkeyConfig).toContain(`aclfile ${redis.extraValkeySecrets[0].mountPath}/users.acl\n`);
  const [{ value: volume }] = nats.podTemplate.patch;
  const [{ value: mount }] = nats.container.patch;
  expect(mount.name).toBe(volume.name);
  expect(new URL(nats.config.merge.$include, 'file:/etc/nats-config/').pathname).toBe(
    `${mount.mountPath}/nats-authorization.conf`,
  );
  for (const file of ['users.acl', 'nats-authorization.conf']) {
    expect(commands).toContain(`> ${file}\n`);
    expect(commands).toContain(`--from-file=${file}\n`);
  }
});

test('the addresses in the Secrets of the services are those of the servers', () => {
  const { database, owner } = postgres.spec.bootstrap.initdb;
  const { hostname, pathname, username } = addressOf('postgres');
  expect([hostname, pathname, username]).toEqual([`${postgres.metadata.name}-rw`, `/${database}`, owner]);
  expect(addressOf('redis').hostname).toBe(redis.fullnameOverride);
  expect(addressOf('nats').hostname).toBe(nats.fullnameOverride);
});

test('the servers have the durability and memory limits that Natter requires', () => {
  expect(postgres.spec.instances).toBeGreaterThanOrEqual(3);
  expect(postgres.spec.postgresql.synchronous.number).toBeGreaterThanOrEqual(1);
  expect(postgres.spec.bootstrap.initdb.postInitApplicationSQL).toContain(
    `ALTER ROLE ${postgres.spec.bootstrap.initdb.owner} CREATEROLE`,
  );
  for (const line of ['save ""', 'appendonly no', 'maxmemory-policy noeviction'])
    expect(redis.valkeyConfig.split('\n')).toContain(line);
  // Redis reaches `maxmemory` and refuses writes before its container is killed.
  const [, megabytes] = /^maxmemory (\d+)mb$/m.exec(redis.valkeyConfig) ?? [];
  expect(redis.resources.limits.memory).toBe('1Gi');
  expect(Number(megabytes)).toBeLessThanOrEqual(0.8 * 1_024);
  expect(nats.config.cluster).toEqual({ enabled: true, replicas: 3 });
});

describe.skipIf(helm === undefined)(
  helm === undefined ? 'the values of Natter: SKIPPED: there is no helm binary' : 'the values of Natter',
  () => {
    test('are accepted and point to the servers and to the Secrets that the last command prints', () => {
      expect(refusal(natter)).toBe('');
      const objects = render({ values: natter });
      process.env.NATTER_SECRET = 'of this test';
      const [to, at, by] = ['postgres', 'redis', 'nats'].map((server) => addressOf(server).href);
      const printed = kubernetesSecrets(
        'natter',
        environmentsOf({ postgres: to ?? '', redis: at ?? '', nats: by ?? '' }),
      );
      const names = parseAllDocuments(printed).map((document) => document.toJS().metadata.name);
      for (const { envFrom } of objects.filter(isWorkload).flatMap((object) => podOf(object).containers))
        expect(names).toContain(envFrom[0].secretRef.name);
      const { egress } = named(objects, 'NetworkPolicy', 'natter-users').spec;
      for (const { to, ports } of Object.values(natter.networkPolicy) as Values[])
        expect(egress).toContainEqual(
          expect.objectContaining({ to, ports: ports.map((port: number) => expect.objectContaining({ port })) }),
        );
    });

    const connectionsNeeded = (objects: Values[]): number => {
      const owners = objects.filter(
        ({ kind, metadata }) => kind === 'Deployment' && !/gateway|canary|redis|nats/.test(metadata.name),
      );
      expect(owners).toHaveLength(6);
      const processes = owners.map(({ metadata, spec }) => {
        const scaled = named(objects, 'HorizontalPodAutoscaler', metadata.name).spec;
        return scaled.maxReplicas + spec.strategy.rollingUpdate.maxSurge;
      });
      // Ten for the work of a process, and one to ask whether PostgreSQL works on a statement.
      const services = 11 * processes.reduce((sum, count) => sum + count, 0);
      const operator = 10; // migrate, doctor, a backup
      const reserved = 3; // superuser_reserved_connections
      return services + operator + reserved;
    };

    test('leave enough connections to PostgreSQL when every service is scaled up and replaced', () => {
      const { max_connections } = postgres.spec.postgresql.parameters;
      expect(Number(max_connections)).toBeGreaterThanOrEqual(connectionsNeeded(render({ values: natter })));
    });

    test('leave enough connections to the PostgreSQL of evaluation mode', () => {
      const objects = render({ values: { evaluation: { enabled: true } } });
      const [server] = podOf(named(objects, 'StatefulSet', 'natter-postgres')).containers;
      const [, limit] = /max_connections=(\d+)/.exec(server.args.join(' ')) ?? [];
      expect(Number(limit)).toBeGreaterThanOrEqual(connectionsNeeded(objects));
    });
  },
);
