import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const scripts = join(import.meta.dirname, 'backup');
const binaries = globSync('/usr/lib/postgresql/*/bin').find((folder) => existsSync(join(folder, 'pg_basebackup')));
/** Postgres refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe.skipIf(!binaries)(
  binaries ? 'backup on one machine' : 'backup on one machine: SKIPPED: no pg_basebackup',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'natter-backup-'));
    const [data, backup, own] = ['data', 'backup', 'scripts'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const env = {
      ...process.env,
      PATH: `${binaries}:${process.env.PATH}`,
      ...{ BACKUP: backup, PGDATA: data, PGHOST: directory, POSTGRES_USER: 'natter', TZ: 'Asia/Tokyo' },
    };
    let server: ReturnType<typeof spawn> | undefined;

    const run = (program: string, args: string[]): SpawnSyncReturns<string> =>
      spawnSync(program, args, { env, ...nobody, cwd: directory, encoding: 'utf8' });
    const must = (program: string, ...args: string[]): string => {
      const { status, stdout, stderr } = run(program, args);
      if (status !== 0) throw new Error(`${program}: ${stderr}${stdout}`);
      return stdout.trim();
    };
    const script = (name: string, ...args: string[]) => run('sh', [join(own, name), ...args]);
    const sql = (text: string): string => must('psql', '-U', 'natter', '-d', 'postgres', '-Atqc', text);

    async function start(): Promise<void> {
      const settings = [
        'archive_mode=on',
        `archive_command=${join(own, 'archive-wal.sh')} "%p" "%f"`,
        'listen_addresses=',
      ];
      const args = [...settings, `unix_socket_directories=${directory}`, 'fsync=off'].flatMap((one) => ['-c', one]);
      server = spawn(join(binaries ?? '', 'postgres'), ['-D', data, ...args], { env, ...nobody, stdio: 'ignore' });
      const isOpen = () =>
        run('psql', ['-U', 'natter', '-d', 'postgres', '-Atqc', 'SELECT pg_is_in_recovery()']).stdout;
      // Also before all tests, where nothing can be expected.
      for (const end = Date.now() + 120_000; isOpen() !== 'f\n'; await sleep(100))
        if (Date.now() > end) throw new Error('PostgreSQL did not start');
    }
    async function stop(): Promise<void> {
      const ended = server && once(server, 'exit');
      server?.kill('SIGINT');
      await ended;
      server = undefined;
    }

    beforeAll(async () => {
      // The checkout may be closed to the user that Postgres runs as.
      execFileSync('cp', ['-r', scripts, own]);
      for (const folder of [backup, join(backup, 'base'), join(backup, 'wal')]) mkdirSync(folder);
      chmodSync(directory, 0o755);
      if (nobody.uid !== undefined)
        for (const path of [directory, own, backup, join(backup, 'base'), join(backup, 'wal')])
          chownSync(path, nobody.uid, nobody.gid);
      must('initdb', '-D', data, '-U', 'natter', '-A', 'trust', '--no-sync');
      await start();
    });
    afterAll(async () => {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    });

    test('the database is restored to any time after a base backup, and to the end of the archive', async () => {
      sql("CREATE TABLE said (what text); INSERT INTO said VALUES ('before the backup')");
      expect(script('base-backup.sh')).toMatchObject({ status: 0 });
      sql("INSERT INTO said VALUES ('after the backup')");
      const time = sql('SELECT clock_timestamp()');
      sql('DELETE FROM said');
      expect(script('restore.sh').stderr).toContain('Postgres runs');
      await stop();
      expect(script('restore.sh', '2020-01-01 00:00:00+00').stderr).toContain('no base backup is older');

      expect(script('restore.sh', time)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('before-restore'),
      });
      await start();
      expect(sql('SELECT what FROM said')).toBe('before the backup\nafter the backup');

      sql("INSERT INTO said VALUES ('after the restore')");
      const archived = () => readdirSync(join(backup, 'wal')).sort();
      const [first] = archived();
      expect(script('base-backup.sh', '1')).toMatchObject({ status: 0 });
      expect(readdirSync(join(backup, 'base'))).toHaveLength(1);
      // The WAL of the first backup is not needed any more.
      expect(archived()).not.toContain(first);
      sql("INSERT INTO said VALUES ('at last')");
      await stop();
      expect(script('restore.sh').status).toBe(0);
      await start();
      expect(sql('SELECT count(*) FROM said')).toBe('4');
    });

    test('the archive never overwrites a file with different content', () => {
      const file = join(directory, 'segment');
      const archive = () => script('archive-wal.sh', file, '0000000100000000000000FF').status;
      writeFileSync(file, 'one');
      expect([archive(), archive()]).toEqual([0, 0]);
      writeFileSync(file, 'two');
      expect(archive()).toBe(1);
    });
  },
);
