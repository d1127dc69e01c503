import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const file = join(import.meta.dirname, 'compose.yaml');
const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'settings.md'), 'utf8');
interface Service {
  image: string;
  environment?: Record<string, string | null>;
  env_file?: string[];
  read_only?: boolean;
  mem_limit?: string;
  command?: string[];
  profiles?: string[];
  ports?: string[];
  volumes?: string[];
  networks?: string[] | Record<string, { ipv4_address: string }>;
}
const project = parse(readFileSync(file, 'utf8'), { merge: true }) as {
  name: string;
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, { ipam: { config: { subnet: string; ip_range: string }[] } } | null>;
};
const { services } = project;
const ours = ['gateway', 'users', 'channels', 'messaging', 'scheduler', 'presence', 'event-queue'];

/** Settings provided by compose.yaml itself, by the secrets of prepare.ts, or by the image. */
const given = [
  ...['NATTER_NATS_URL', 'NATTER_REDIS_URL', 'NATTER_POSTGRES_URL', 'NATTER_BOT_KEY_SECRET'],
  'NATTER_BOT_KEY_SECRET_PREVIOUS',
  ...['NATTER_OPERATIONS_HOST', 'NATTER_OPERATIONS_PORT', 'NATTER_HTTP_HOST', 'NATTER_HTTP_PORT', 'NATTER_HTTP_FD'],
];
const titles: Record<string, string> = {
  'Every process': 'every',
  'Event queue': 'event-queue',
  Gateway: 'gateway',
  Channels: 'channels',
  Messaging: 'messaging',
  Scheduler: 'scheduler',
  Presence: 'presence',
  Users: 'users',
};
const settings = page.split(/^## /m).flatMap((part) => {
  const service = titles[part.slice(0, part.indexOf('\n'))];
  const names = [...part.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name ?? '');
  return service ? names.filter((name) => !given.includes(name)).map((name) => [service, name] as const) : [];
});

test('every setting of the settings page reaches the service that reads it', () => {
  expect(settings.length).toBeGreaterThan(15);
  for (const [service, name] of settings)
    for (const each of service === 'every' ? ours : [service])
      expect(Object.keys(services[each]?.environment ?? {}), `${name} of ${each}`).toContain(name);
});

test('migrations wait for Postgres, because its first start is slow', () => {
  expect(services.migrate?.command).toEqual(['migrate', '--wait', expect.stringMatching(/^\d+$/)]);
});

test('each service has its own credentials, in a file', () => {
  for (const service of ours) expect(services[service]?.env_file).toEqual([`secrets/${service}.env`]);
  for (const [name, { environment }] of Object.entries(services))
    for (const [variable, value] of Object.entries(environment ?? {}))
      if (/URL|SECRET|PASSWORD|KEY/.test(variable) && value)
        expect(value, `${name} ${variable}`).toMatch(/^(\$\{.*\}|http:\/\/gateway:9991)$/);
});

test('the project has its own name, and all files and volumes that its services mount exist', () => {
  expect(project.name).toBe('natter');
  for (const [name, { volumes = [] }] of Object.entries(services))
    for (const [source = ''] of volumes.map((one) => one.split(':')))
      if (source.startsWith('.') && !source.startsWith('./secrets/'))
        expect([name, source, existsSync(join(import.meta.dirname, source))]).toEqual([name, source, true]);
      else if (/^\w/.test(source))
        expect([name, Object.keys(project.volumes)]).toEqual([name, expect.arrayContaining([source])]);
});

describe('the schema of the Compose Specification', () => {
  const { $schema: _, ...schema } = createRequire(import.meta.url)('docker-compose/schema/compose-spec.json');
  const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);

  test('accepts the file', () => {
    validate(project);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('rejects an unknown key and a value of the wrong type', () => {
    for (const wrong of [{ volume: ['data:/data'] }, { read_only: ['yes'] }, { healthcheck: { tests: 'true' } }])
      expect(validate({ ...project, services: { gateway: { ...services.gateway, ...wrong } } })).toBe(false);
  });
});

test('Redis refuses writes before its container reaches its memory limit', () => {
  const { command = [], mem_limit = '' } = services.redis ?? { image: '' };
  const mebibytes = (size: string): number => Number.parseInt(size, 10) * (size.endsWith('gb') ? 1_024 : 1);
  const maximum = byDefault(command[command.indexOf('--maxmemory') + 1] ?? '');
  expect([maximum, byDefault(mem_limit)]).toEqual([
    expect.stringMatching(/^\d+mb$/),
    expect.stringMatching(/^\d+[mg]b$/),
  ]);
  expect(mebibytes(maximum)).toBeLessThanOrEqual(0.8 * mebibytes(byDefault(mem_limit)));
  expect(command[command.indexOf('--maxmemory-policy') + 1]).toBe('noeviction');
});

test('only the proxy accepts connections from other machines', () => {
  for (const [name, { ports = [], profiles = [] }] of Object.entries(services)) {
    if (name === 'caddy') expect(profiles).toEqual(['tls']);
    else for (const port of ports) expect([name, port]).toEqual([name, expect.stringMatching(/127\.0\.0\.1:/)]);
  }
});

/** A value with the defaults of its variables, as Docker Compose reads it without an environment. */
const byDefault = (value: string): string => value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');
const networksOf = ({ networks = [] }: Service = { image: '' }): string[] =>
  Array.isArray(networks) ? networks : Object.keys(networks);

test('the gateway trusts the proxy of the tls profile and no other address', () => {
  const { gateway, caddy } = services;
  const trusted = byDefault(gateway?.environment?.NATTER_TRUSTED_PROXIES ?? '').split(',');
  const networks = (caddy?.networks ?? {}) as Record<string, { ipv4_address: string }>;
  const address = networks.edge?.ipv4_address ?? '';
  expect(trusted.filter((entry) => entry !== '')).toEqual([byDefault(address)]);
  const [range] = project.networks.edge?.ipam.config ?? [];
  const [subnet, others] = [new BlockList(), new BlockList()];
  for (const [list, cidr = ''] of [
    [subnet, range?.subnet],
    [others, range?.ip_range],
  ] as const) {
    const [net = '', prefix] = byDefault(cidr).split('/');
    list.addSubnet(net, Number(prefix));
  }
  // Docker gives no other container the address of the proxy, and itself the first one.
  expect([subnet.check(byDefault(address)), others.check(byDefault(address))]).toEqual([true, false]);
  expect(byDefault(address)).not.toMatch(/\.[01]$/);
  // The proxy reaches the gateway, and no server with data.
  expect(networksOf(caddy)).toEqual(['edge']);
  expect(Object.keys(services).filter((name) => networksOf(services[name]).includes('edge'))).toEqual([
    'gateway',
    'caddy',
  ]);
});

const command = [['docker', 'compose'], ['docker-compose']].find(
  ([program = '', ...rest]) => spawnSync(program, [...rest, 'version']).status === 0,
);
const directory = mkdtempSync(join(tmpdir(), 'natter-compose-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe.skipIf(!command)(command ? 'compose itself' : 'compose itself: SKIPPED: there is no docker compose', () => {
  test('accepts the file and passes a setting on', () => {
    cpSync(file, join(directory, 'compose.yaml'));
    mkdirSync(join(directory, 'secrets'));
    for (const name of [...ours, 'operator', 'postgres', 'grafana'])
      writeFileSync(join(directory, 'secrets', `${name}.env`), '');
    const [program = '', ...rest] = command ?? [];
    const { status, stdout, stderr } = spawnSync(program, [...rest, '-f', join(directory, 'compose.yaml'), 'config'], {
      encoding: 'utf8',
      env: { ...process.env, NATTER_RATE_LIMIT: '321', NATTER_SMTP_URL: 'smtp://mail.example.com' },
    });
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    const configured = (parse(stdout) as { services: Record<string, Service> }).services;
    expect(Object.keys(configured)).toEqual(expect.arrayContaining([...ours, 'postgres', 'redis', 'nats', 'migrate']));
    expect(String(configured.gateway?.environment?.NATTER_RATE_LIMIT)).toBe('321');
    expect(configured.users?.environment?.NATTER_SMTP_URL).toBe('smtp://mail.example.com');
    for (const service of ours) expect(configured[service]).toMatchObject({ read_only: true, image: 'natter:local' });
  });
});
