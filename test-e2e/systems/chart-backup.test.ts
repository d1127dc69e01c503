/** The scripts with which the chart makes dumps and restores them, with a real PostgreSQL. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, serviceSchemas, serviceUrl } from '@natter/database';
import { helm, render } from '@natter/helm';
import { bringServers, type Servers } from '@natter/local';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const binaries = globSync('/usr/lib/postgresql/*/bin').find((folder) => existsSync(join(folder, 'pg_dump')));
const missing = [helm ? [] : ['helm'], binaries ? [] : ['pg_dump']].flat().join(' and ');

describe.skipIf(missing !== '')(missing ? `the chart's backup: SKIPPED: no ${missing}` : "the chart's backup", () => {
  let servers: Servers;
  let claim: string;
  /** Stands before the programs of Postgres in the PATH of a script. */
  let tools: string;
  let url: string;
  beforeAll(async () => {
    servers = await bringServers({ dataDir: mkdtempSync(join(tmpdir(), 'natter-test-')) });
    url = Object.assign(new URL(servers.postgresUrl), { pathname: '/chat' }).href;
  });
  afterAll(() => servers?.stop());
  beforeEach(async () => {
    claim = mkdtempSync(join(tmpdir(), 'natter-claim-'));
    tools = mkdtempSync(join(tmpdir(), 'natter-tools-'));
    await newDatabase();
    await migrate(url, 'secret', () => undefined);
    await inPostgres('SELECT log.create_realm(1)');
  });
  afterEach(() => {
    for (const folder of [claim, tools]) rmSync(folder, { recursive: true, force: true });
  });

  async function inPostgres(text: string, to = url): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: to });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }
  async function newDatabase(): Promise<void> {
    await inPostgres('DROP DATABASE IF EXISTS chat WITH (FORCE)', servers.postgresUrl);
    await inPostgres('CREATE DATABASE chat', servers.postgresUrl);
  }
  async function asService(database = url): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: serviceUrl(database, 'users', 'secret') });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  function scriptOf(name: 'backup' | 'restore', values: object): string {
    const objects = render({ values: { backup: { enabled: true, ...values } } });
    const pods = objects.map(({ spec }) => (spec?.jobTemplate?.spec ?? spec)?.template?.spec);
    const containers = pods.flatMap((pod) => [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]);
    return containers.find((container) => container.name === name).args[0];
  }
  const environment = (as = url) => ({
    cwd: claim,
    env: { ...process.env, PATH: `${tools}:${binaries}:${process.env.PATH}`, URL: as },
  });
  function run(script: string, limit = 'unlimited', as = url): { status: number | null; output: string } {
    const args = ['-c', `ulimit -f ${limit}; exec sh -eu -c "$0"`, script];
    const { status, stdout, stderr } = spawnSync('sh', args, { ...environment(as), encoding: 'utf8' });
    return { status, output: stdout + stderr };
  }
  /** `$real` is the program of Postgres with this name. */
  const replaceTool = (name: string, script: string) =>
    writeFileSync(join(tools, name), `#!/bin/sh\nreal='${join(binaries ?? '', name)}'\n${script}\n`, { mode: 0o755 });
  const backUp = (values = {}, limit?: string) => run(scriptOf('backup', values), limit);
  const restore = (file = 'latest') => run(scriptOf('restore', { restore: file }));
  const onClaim = () => readdirSync(claim).sort();
  const realms = async () => (await inPostgres('SELECT realm_id FROM log.clock')).map(({ realm_id }) => realm_id);

  test('a database without a realm is not dumped, and takes no place of a dump', async () => {
    expect(backUp({ keep: 1 })).toMatchObject({ status: 0 });
    const files = onClaim();
    expect(files).toEqual([expect.stringMatching(/^natter-.*\.dump$/), expect.stringMatching(/\.roles\.sql$/)]);
    await newDatabase();
    const refused = { status: 1, output: expect.stringContaining('the database has no realm') };
    expect(backUp({ keep: 1 })).toMatchObject(refused);
    await migrate(url, 'secret', () => undefined);
    expect(backUp({ keep: 1 })).toMatchObject(refused);
    expect(onClaim()).toEqual(files);
  });

  test('a dump that fails or is stopped leaves nothing, and the next one removes an older part', async () => {
    expect(backUp({}, '8').status).not.toBe(0);
    expect(onClaim()).toEqual([]);

    const lock = new pg.Client({ connectionString: url });
    await lock.connect();
    await lock.query('BEGIN; LOCK TABLE users.realm');
    const stopped = spawn('sh', ['-eu', '-c', scriptOf('backup', {})], { ...environment(), stdio: 'ignore' });
    await expect.poll(onClaim).toContainEqual(expect.stringMatching(/Z\.part$/));
    stopped.kill('SIGTERM');
    expect(await once(stopped, 'exit')).toEqual([1, null]);
    expect(onClaim()).toEqual([]);
    await lock.end();

    for (const name of ['natter-old.part', 'natter-new.part']) writeFileSync(join(claim, name), '');
    const dayAgo = Date.now() / 1000 - 86_400;
    utimesSync(join(claim, 'natter-old.part'), dayAgo, dayAgo);
    expect(backUp()).toMatchObject({ status: 0 });
    expect(onClaim()).not.toContain('natter-old.part');
    expect(onClaim()).toContain('natter-new.part');
  });

  test('a restore lets no service in before the passwords are set', async () => {
    expect(backUp()).toMatchObject({ status: 0 });
    await newDatabase();
    await asService();
    expect(restore()).toMatchObject({ status: 0, output: expect.stringContaining('restored natter-') });
    expect(await inPostgres("SELECT usename FROM pg_stat_activity WHERE usename LIKE 'natter\\_%'")).toEqual([]);
    expect(await realms()).toEqual([1]);
    const roles = `SELECT rolname FROM pg_roles WHERE rolname LIKE 'natter\\_%' AND rolcanlogin ORDER BY 1`;
    expect(await inPostgres(roles)).toEqual([]);
    await expect(asService()).rejects.toThrow('not permitted to log in');
    // The new epoch is missing, so the restore has not ended.
    await expect(migrate(url, 'secret', () => undefined)).rejects.toThrow('has not ended');
    await inPostgres('COMMENT ON DATABASE chat IS NULL');
    await migrate(url, 'secret', () => undefined);
    expect(await inPostgres(roles)).toEqual([...serviceSchemas].sort().map((name) => ({ rolname: `natter_${name}` })));
    await (await asService()).end();
  });

  test('a restore refuses a server whose other databases the services use', async () => {
    expect(backUp()).toMatchObject({ status: 0 });
    await newDatabase();
    const other = await asService(servers.postgresUrl);
    expect(restore()).toMatchObject({ status: 1, output: expect.stringContaining('other databases of this server') });
    await (await asService()).end();
    await other.end();
    expect(restore()).toMatchObject({ status: 0 });
  });

  test('a restored database stays as it is when its dump is gone', async () => {
    expect(backUp()).toMatchObject({ status: 0 });
    const [file] = onClaim();
    await newDatabase();
    expect(restore(file)).toMatchObject({ status: 0 });
    for (const name of onClaim()) rmSync(join(claim, name));
    for (const name of ['latest', file])
      expect(restore(name)).toMatchObject({ status: 0, output: expect.stringContaining('nothing to restore') });
    await newDatabase();
    expect(restore(file)).toMatchObject({ status: 1, output: expect.stringContaining('there is no dump') });
  });

  test('a restore refuses a dump of an empty database', async () => {
    expect(backUp()).toMatchObject({ status: 0 });
    const [good] = onClaim();
    await newDatabase();
    const args = ['--format=custom', `--file=${join(claim, 'natter-99991231T000000Z.dump')}`, url];
    expect(spawnSync(join(binaries ?? '', 'pg_dump'), args).status).toBe(0);
    expect(restore()).toMatchObject({ status: 1, output: expect.stringContaining('has no data of Natter') });
    expect(restore(good)).toMatchObject({ status: 0 });
    expect(await realms()).toEqual([1]);
  });

  test('a dump is restored by a pg_restore that is newer than the server', async () => {
    expect(backUp()).toMatchObject({ status: 0 });
    await newDatabase();
    // Version 17 sends this setting; servers from 14 to 16 refuse it.
    const setting = 'SET transaction_timeout = 0;';
    replaceTool(
      'pg_restore',
      `case "$*" in
         *--list*) exec "$real" "$@" ;;
         *--dbname*) psql "$URL" -Xqv ON_ERROR_STOP=1 -c '${setting}' || exit 1 ;;
       esac
       "$real" "$@" > "$0.out"
       status=$?
       sed 's/^SET lock_timeout = 0;$/&\\n${setting}/' "$0.out"
       exit $status`,
    );
    expect(restore()).toMatchObject({ status: 0 });
    expect(readFileSync(join(tools, 'pg_restore.out'), 'utf8')).toMatch(/^SET lock_timeout = 0;$/m);
    expect(await realms()).toEqual([1]);
  });

  test('a dump that is cut off leaves the database empty and fails the restore', async () => {
    expect(backUp()).toMatchObject({ status: 0 });
    const [file = ''] = onClaim();
    truncateSync(join(claim, file), statSync(join(claim, file)).size - 20);
    await newDatabase();
    expect(restore()).toMatchObject({ status: 1, output: expect.stringContaining('cannot be read to its end') });
    expect(await inPostgres("SELECT nspname FROM pg_namespace WHERE nspname = 'log'")).toEqual([]);
  });

  test('the password of the owner stands in no command line', async () => {
    const password = "p%a/s:s@w?d'é";
    await inPostgres(`CREATE ROLE chat_owner SUPERUSER LOGIN PASSWORD '${password.replace("'", "''")}'`);
    const owner = Object.assign(new URL(url), { username: 'chat_owner', password: encodeURIComponent(password) }).href;
    for (const name of ['psql', 'pg_dump', 'pg_restore'])
      replaceTool(name, `printf '%s\\n' "$0 $*" >> '${join(tools, 'command-lines')}'; exec "$real" "$@"`);
    expect(run(scriptOf('backup', {}), undefined, owner)).toMatchObject({ status: 0 });
    await newDatabase();
    expect(run(scriptOf('restore', { restore: 'latest' }), undefined, owner)).toMatchObject({ status: 0 });
    const lines = readFileSync(join(tools, 'command-lines'), 'utf8');
    for (const name of ['psql', 'pg_dump', 'pg_restore']) expect(lines).toContain(`/${name} `);
    expect(lines).toContain('//chat_owner@');
    expect(lines).not.toContain(encodeURIComponent(password));
    expect(lines).not.toContain(password);
  });
});
