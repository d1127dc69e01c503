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
/** Base backups and former data have the second as name. */
const nextSecond = () => sleep(1001 - (Date.now() % 1000));
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

    const run = (program: string, args: string[], more = {}): SpawnSyncReturns<string> =>
      spawnSync(program, args, { env: { ...env, ...more }, ...nobody, cwd: directory, encoding: 'utf8' });
    const must = (program: string, ...args: string[]): string => {
      const { status, stdout, stderr } = run(program, args);
      if (status !== 0) throw new Error(`${program}: ${stderr}${stdout}`);
      return stdout.trim();
    };
    const script = (name: string, ...args: string[]) => run('sh', [join(own, name), ...args]);
    const bases = () => readdirSync(join(backup, 'base')).sort();
    const archived = () => readdirSync(join(backup, 'wal')).sort();
    const histories = () => archived().filter((name) => name.endsWith('.history'));
    const sql = (text: string): string => must('psql', '-U', 'natter', '-d', 'postgres', '-Atqc', text);

    async function start(): Promise<void> {
      const settings = [
        'archive_mode=on',
        `archive_command=${join(own, 'archive-wal.sh')} "%p" "%f"`,
        'listen_addresses=',
      ];
      const args = [...settings, `unix_socket_directories=${directory}`, 'fsync=off'].flatMap((one) => ['-c', one]);
      const started = spawn(join(binaries ?? '', 'postgres'), ['-D', data, ...args], {
        env,
        ...nobody,
        stdio: 'ignore',
      });
      server = started;
      const isOpen = () =>
        run('psql', ['-U', 'natter', '-d', 'postgres', '-Atqc', 'SELECT pg_is_in_recovery()']).stdout;
      // Throws instead of using `expect`, because this also runs in `beforeAll`.
      for (const end = Date.now() + 120_000; isOpen() !== 'f\n'; await sleep(100))
        if (Date.now() > end || started.exitCode !== null) throw new Error('PostgreSQL did not start');
    }
    async function stop(): Promise<void> {
      if (server?.exitCode === null) {
        const ended = once(server, 'exit');
        server.kill('SIGINT');
        await ended;
      }
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
      // A Postgres that the script cannot reach.
      const unreached = run('sh', [join(own, 'restore.sh')], { PGHOST: '/nowhere' });
      expect(unreached.stderr).toContain('Postgres runs');
      await stop();
      expect(script('restore.sh', '2020-01-01 00:00:00+00').stderr).toContain('no base backup is older');

      expect(script('restore.sh', time)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('before-restore'),
      });
      await start();
      expect(sql('SELECT what FROM said')).toBe('before the backup\nafter the backup');

      sql("INSERT INTO said VALUES ('after the restore')");
      const [first] = archived();
      await nextSecond();
      expect(script('base-backup.sh', '1')).toMatchObject({ status: 0 });
      expect(bases()).toHaveLength(1);
      // The WAL of the first backup is not needed any more.
      expect(archived()).not.toContain(first);
      sql("INSERT INTO said VALUES ('at last')");
      await stop();
      expect(script('restore.sh').status).toBe(0);
      await start();
      expect(sql('SELECT count(*) FROM said')).toBe('4');
    });

    test('a restore follows the timeline that the database was on at its time', async () => {
      sql('CREATE TABLE day (name text)');
      await nextSecond();
      const live = (name: string): string => {
        sql(`INSERT INTO day VALUES ('${name}')`);
        return sql('SELECT clock_timestamp()');
      };
      const copy = (...args: string[]): string => {
        expect(script('base-backup.sh', ...args)).toMatchObject({ status: 0 });
        return bases().at(-1) ?? '';
      };
      const restored = async (...args: string[]) => {
        await stop();
        await nextSecond();
        const { status, stdout, stderr } = script('restore.sh', ...args);
        expect([status, stderr]).toEqual([0, '']);
        const newest = Number.parseInt(histories().at(-1) ?? '1', 16);
        const [, followed, millions] = /on timeline (\d+);.* after-restore --margin (\d+)000000'/.exec(stdout) ?? [];
        // Numbers of realms begin a million above those on the newest timeline, whichever one is followed.
        expect(Number(followed) + Number(millions)).toBe(newest + 1);
        const before = histories().length;
        await start();
        await expect.poll(() => histories().length).toBe(before + 1);
        return { base: /restored from (\w+)/.exec(stdout)?.[1], days: sql('SELECT name FROM day').split('\n') };
      };
      live('Monday');
      const first = copy();
      const timeline = sql('SELECT timeline_id FROM pg_control_checkpoint()');
      const tuesday = live('Tuesday');
      const wednesday = live('Wednesday');
      // The second copy begins some files of WAL after the first.
      for (let file = 0; file < 4; file++) sql("SELECT pg_switch_wal(); INSERT INTO day SELECT 'none' WHERE false");
      live('Thursday');
      await nextSecond();
      const second = copy();
      const friday = live('Friday');
      live('Saturday');

      expect(await restored(tuesday)).toEqual({ base: first, days: ['Monday', 'Tuesday'] });
      live('Sunday');
      // The first restore went back too far.
      expect(await restored(wednesday)).toEqual({ base: first, days: ['Monday', 'Tuesday', 'Wednesday'] });
      const again = live('Sunday again');
      live('more');
      // The newest copy is of days that the restores undid.
      const days = ['Monday', 'Tuesday', 'Wednesday', 'Sunday again'];
      expect(await restored()).toEqual({ base: first, days: [...days, 'more'] });
      expect(await restored(again)).toEqual({ base: first, days });
      expect((await restored(friday)).base).toBe(second);
      expect((await restored('', timeline)).days.slice(-2)).toEqual(['Friday', 'Saturday']);

      expect(await restored(tuesday)).toEqual({ base: first, days: ['Monday', 'Tuesday'] });
      await nextSecond();
      // The first copy is removed. The second has a later position than the new one, whose WAL must stay.
      const third = copy('2');
      expect(bases()).toEqual([second, third]);
      live('Sunday at last');
      expect(await restored()).toEqual({ base: third, days: ['Monday', 'Tuesday', 'Sunday at last'] });
      await stop();
      expect(script('restore.sh', '', '99').stderr).toContain('no base backup before now belongs to timeline 99');
      await start();
    });

    test('a restore takes no process of another container for Postgres', async () => {
      await nextSecond();
      expect(script('base-backup.sh')).toMatchObject({ status: 0 });
      await stop();
      await nextSecond();
      const other = spawn('sleep', ['600'], nobody);
      writeFileSync(join(data, 'postmaster.pid'), `${other.pid}\n`);
      expect(script('restore.sh')).toMatchObject({ status: 0, stderr: '' });
      other.kill();
      await start();
    });

    test('a base backup that fails leaves nothing, and one that is refused changes nothing', async () => {
      await nextSecond();
      expect(script('base-backup.sh')).toMatchObject({ status: 0 });
      const before = bases();
      const command = join(own, 'base-backup.sh');
      // A limit for files ends pg_basebackup by a signal.
      expect(run('sh', ['-c', `ulimit -f 100; exec sh ${command}`]).status).not.toBe(0);
      expect(bases()).toEqual(before);
      const refused = { status: 1, stderr: expect.stringContaining('KEEP must be a number above 0') };
      expect([script('base-backup.sh', '0'), script('base-backup.sh', 'all')]).toMatchObject([refused, refused]);
      const other = join(backup, 'base', '.unfinished');
      mkdirSync(other);
      expect(run('flock', [join(backup, 'base'), 'sh', command])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('another base backup runs'),
      });
      expect(bases()).toEqual(['.unfinished', ...before]);
      rmSync(other, { recursive: true });
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
