/** The whole system in containers, two of each service, behind one address. Tests use only that address. */
import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentsOf, natsPassword, redisAcl } from '@natter/admin/credentials';
import { natsAuthorization } from '@natter/service-kit';
import { type Credentials, request } from '../api.ts';
import { type Box, type ContainerRecipe, createBox, openDocker } from './container.ts';
import { type Disk, makeDisk } from './disk.ts';
import type { Images } from './images.ts';
import { sweep } from './sweep.ts';

export const kinds = ['users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue', 'gateway'] as const;
type Kind = (typeof kinds)[number];
export const backends = ['postgres', 'redis', 'nats'] as const;
type Backend = (typeof backends)[number];

const roles = { administrator: 'administrator', moderator: 'moderator', member: 'member', member2: 'member' } as const;
type People = Record<'owner' | keyof typeof roles, Credentials & { user_id: number }>;

export interface Cluster {
  url: string;
  people: People;
  disk: Disk;
  backends: Record<Backend, Box>;
  services(): { kind: Kind; box: Box }[];
  /** Docker's name of the network that services share with a backend. */
  networkOf(backend: Backend): string;
  /** Runs the `natter` command in a separate container. */
  natter(...args: string[]): Promise<{ code: number; output: string }>;
  /** A pooler in transaction mode in front of Postgres; returns the settings of a service that uses it. */
  startPooler(): Promise<(kind: Kind) => Record<string, string>>;
  startService(kind: Kind, name: string, image: string, env?: Record<string, string>): Promise<Box>;
  removeService(box: Box): Promise<void>;
  ready(name: string): Promise<void>;
  /** Runs a command as root in a container on Postgres's disk. */
  onDisk(command: string): Promise<void>;
  inspectImage(name: string): Promise<{ User: string; Labels: Record<string, string>; Size: number }>;
  stop(): Promise<void>;
}

export async function startCluster(images: Images, log: (line: string) => void): Promise<Cluster> {
  const docker = await openDocker();
  const run = `natter-e2e-${randomBytes(3).toString('hex')}`;
  const labels = { 'natter.e2e': String(process.pid) };
  await sweep(docker);
  process.env.NATTER_SECRET = randomBytes(24).toString('hex');
  const postgresPassword = randomBytes(12).toString('hex');
  const environments = environmentsOf({
    postgres: `postgres://natter:${postgresPassword}@postgres:5432/natter`,
    redis: 'redis://redis:6379',
    nats: 'nats://nats:4222',
  });
  const files = mkdtempSync(join(tmpdir(), `${run}-`));
  chmodSync(files, 0o755);
  const file = (name: string, text: string): string => {
    writeFileSync(join(files, name), text, { mode: 0o644 });
    return join(files, name);
  };
  const networkOf = (name: string): string => `${run}-${name}`;
  for (const name of ['edge', ...backends]) await docker.createNetwork({ Name: networkOf(name), Labels: labels });
  const disk = await makeDisk(`${run}-disk`, 400, [`natter.e2e=${process.pid}`]);
  const boxes = new Set<Box>();
  const box = async (recipe: Omit<ContainerRecipe, 'labels'>): Promise<Box> => {
    const made = await createBox(docker, run, { ...recipe, labels });
    boxes.add(made);
    await made.start();
    return made;
  };
  const services = new Map<Box, Kind>();
  let started = 0;

  async function natter(...args: string[]): Promise<{ code: number; output: string }> {
    const command = await box({
      name: `command-${++started}`,
      image: images.natter,
      networks: ['edge', ...backends].map(networkOf),
      env: environments.operator ?? {},
      command: args,
      hardened: true,
    });
    const result = await command.finished();
    boxes.delete(command);
    await command.remove();
    return result;
  }
  async function startService(kind: Kind, name: string, image: string, env: Record<string, string> = {}): Promise<Box> {
    const needed = kind === 'gateway' ? (['redis', 'nats'] as const) : backends;
    const made = await box({
      name,
      image,
      networks: ['edge', ...needed].map(networkOf),
      env: {
        ...environments[kind],
        NATTER_RATE_LIMIT: '1000000',
        NATTER_RATE_LIMIT_ANONYMOUS: '1000000',
        NATTER_DRAIN_MS: '1500',
        NATTER_LOG_LEVEL: process.env.NATTER_LOG_LEVEL ?? 'info',
        ...env,
      },
      command: [kind],
      hardened: true,
    });
    services.set(made, kind);
    return made;
  }

  async function startPooler(): Promise<(kind: Kind) => Record<string, string>> {
    const accounts = new Map<string, string>();
    for (const { NATTER_POSTGRES_URL: url } of Object.values(environments))
      if (url) accounts.set(new URL(url).username, new URL(url).password);
    const users = [...accounts].map(([user, password]) => `"${user}" "${password}"`).join('\n');
    const settings = [
      ...['[databases]', 'natter = host=postgres port=5432 dbname=natter', '[pgbouncer]', 'listen_addr = 0.0.0.0'],
      ...['listen_port = 6432', 'auth_type = scram-sha-256', 'auth_file = /etc/pgbouncer/users.txt'],
      ...[
        'pool_mode = transaction',
        'default_pool_size = 20',
        'max_client_conn = 500',
        'server_login_retry = 1',
        'dns_max_ttl = 1',
      ],
    ].join('\n');
    await box({
      name: 'pgbouncer',
      image: images.pgbouncer,
      networks: [networkOf('postgres')],
      binds: [
        `${file('pgbouncer.ini', settings)}:/etc/pgbouncer/pgbouncer.ini:ro`,
        `${file('users.txt', users)}:/etc/pgbouncer/users.txt:ro`,
      ],
    });
    return (kind) => ({
      NATTER_POSTGRES_URL: (environments[kind]?.NATTER_POSTGRES_URL ?? '').replace('@postgres:5432', '@pgbouncer:6432'),
    });
  }

  const stop = async (): Promise<void> => {
    if (process.env.NATTER_KEEP) return log(`kept: ${run}`);
    await Promise.all([...boxes].map((one) => one.remove()));
    for (const name of ['edge', ...backends])
      await docker
        .getNetwork(networkOf(name))
        .remove()
        .catch(() => undefined);
    await disk.remove();
    rmSync(files, { recursive: true, force: true });
  };
  try {
    const acl = `${redisAcl()}\nuser wiper on >wipe ~* +flushall\n`;
    const [postgres, redis, nats] = [
      await box({
        name: 'postgres',
        image: images.postgres,
        networks: [networkOf('postgres')],
        env: {
          POSTGRES_USER: 'natter',
          POSTGRES_PASSWORD: postgresPassword,
          POSTGRES_DB: 'natter',
          PGDATA: '/var/lib/postgresql/data/natter',
        },
        binds: [`${disk.volume}:/var/lib/postgresql/data`],
        command: ['postgres', '-c', 'max_connections=300', '-c', 'max_wal_size=96MB', '-c', 'min_wal_size=32MB'],
      }),
      await box({
        name: 'redis',
        image: images.redis,
        networks: [networkOf('redis')],
        binds: [`${file('users.acl', acl)}:/users.acl:ro`],
        command: [
          'redis-server',
          '--save',
          '',
          '--appendonly',
          'no',
          '--protected-mode',
          'no',
          '--aclfile',
          '/users.acl',
        ],
      }),
      await box({
        name: 'nats',
        image: images.nats,
        networks: [networkOf('nats')],
        binds: [`${file('nats.conf', natsAuthorization(natsPassword))}:/nats.conf:ro`],
        command: ['-a', '0.0.0.0', '-c', '/nats.conf'],
      }),
    ];
    const holder = await box({
      name: 'disk-holder',
      image: images.redis,
      networks: [networkOf('edge')],
      entrypoint: ['sleep', '86400'],
      binds: [`${disk.volume}:/disk`],
    });
    copyFileSync(join(import.meta.dirname, 'balancer.mjs'), join(files, 'balancer.mjs'));
    chmodSync(join(files, 'balancer.mjs'), 0o644);
    const balancer = await box({
      name: 'balancer',
      image: images.natter,
      networks: [networkOf('edge')],
      entrypoint: ['/usr/local/bin/node', '/balancer.mjs'],
      env: { BACKENDS: ['1', '2', '1-new', '2-new'].map((suffix) => `gateway-${suffix}`).join(',') },
      binds: [`${join(files, 'balancer.mjs')}:/balancer.mjs:ro`],
      ports: [8080, 8081],
    });
    const url = `http://127.0.0.1:${await balancer.portOf(8080)}`;
    const eye = `http://127.0.0.1:${await balancer.portOf(8081)}`;
    const ready = async (name: string): Promise<void> => {
      for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
        const status = await fetch(`${eye}/ready?host=${name}`).then(
          (response) => response.status,
          () => 0,
        );
        if (status === 200) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const found = [...boxes].find((one) => one.name === name);
      throw new Error(`${name} did not get ready:\n${(await found?.logs())?.slice(-3_000)}`);
    };

    log('migrating');
    await until('migrate', async () => {
      const { code, output } = await natter('migrate');
      if (code !== 0) throw new Error(output);
    });
    log('starting two of each service');
    for (const kind of kinds) for (const number of [1, 2]) await startService(kind, `${kind}-${number}`, images.natter);
    await Promise.all([...services.keys()].map(({ name }) => ready(name)));
    const people = await createPeople(natter, url);
    return {
      url,
      people,
      disk,
      backends: { postgres, redis, nats },
      services: () => [...services].map(([one, kind]) => ({ kind, box: one })),
      networkOf,
      startPooler,
      natter,
      startService,
      removeService: async (one) => {
        services.delete(one);
        boxes.delete(one);
        await one.remove();
      },
      ready,
      onDisk: async (command) => {
        const { code, output } = await holder.exec(['sh', '-c', command]);
        if (code !== 0) throw new Error(output);
      },
      inspectImage: async (name) => {
        const { Config, Size } = await docker.getImage(name).inspect();
        return { User: Config.User, Labels: Config.Labels ?? {}, Size };
      },
      stop,
    };
  } catch (error) {
    for (const one of boxes)
      if (!(await one.isRunning())) log(`${one.name} ended:\n${(await one.logs()).slice(-2_000)}`);
    await stop();
    throw error;
  }
}

async function createPeople(natter: Cluster['natter'], url: string): Promise<People> {
  const host = 'natter.example';
  const read = ({ code, output }: { code: number; output: string }): Record<string, string> => {
    if (code !== 0) throw new Error(output);
    return Object.fromEntries(output.split('\n').map((line) => line.split(': ') as [string, string]));
  };
  const person = (email: string, made: Record<string, string>): Credentials & { user_id: number } => ({
    email,
    api_key: made.api_key ?? '',
    user_id: Number(made.user_id),
  });
  const email = (name: string): string => `${name}@${host}`;
  const owner = read(
    await natter('realm', 'create', '--host', host, '--name', 'E2E', '--owner-email', email('owner'), '--default'),
  );
  const people = { owner: person(email('owner'), owner) } as People;
  for (const [name, role] of Object.entries(roles)) {
    const made = await natter('key', 'create', '--host', host, '--email', email(name), '--create-role', role);
    people[name as keyof typeof roles] = person(email(name), read(made));
  }
  const { status, body } = await request(url, people.owner, 'POST /users/me/subscriptions', {
    subscriptions: [{ name: 'general' }],
    principals: Object.values(people).map(({ user_id }) => user_id),
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return people;
}

async function until(what: string, attempt: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${what}: ${error instanceof Error ? error.message : error}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
