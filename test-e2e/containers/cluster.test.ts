import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Answer, request } from '../api.ts';
import { type Report, underDisturbance } from '../disturbance.ts';
import { follow } from '../follower.ts';
import { randomOf } from '../kills.ts';
import { backends, type Cluster, kinds, startCluster } from './cluster.ts';

const { images, skipped, seed } = inject('containers');
const random = randomOf(seed);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const pick = <T>(list: T[]): T => list[Math.floor(random() * list.length)] as T;
const clients = 8;
/** One round in a normal run; `ROUNDS=20 npm run test:e2e -- -t killed` for many. */
const rounds = Number(process.env.ROUNDS ?? 1);
const roundMs = 120_000;
/** A connection per request, as through a Service: otherwise the balancer would not choose for each request. */
const headers = { connection: 'close' };

describe.skipIf(images === undefined)(
  `the system in containers (seed ${seed})${skipped ? `: SKIPPED: ${skipped}` : ''}`,
  () => {
    let cluster: Cluster;
    beforeAll(async () => {
      if (!images) return;
      cluster = await startCluster(images, (line) => console.log(`e2e: ${line}`));
      console.log(`e2e: Postgres writes to ${cluster.disk.medium}; rate limits raised, nothing else`);
    }, 300_000);
    afterAll(() => cluster?.stop());
    afterEach(async ({ task }) => {
      if (task.result?.state === 'fail') console.log((await cluster.natter('doctor')).output);
    });

    /** The earlier disturbance is over: a register reads from every service and every server. */
    const settled = (): Promise<void> =>
      expect
        .poll(async () => (await request(cluster.url, { ...cluster.people.owner, headers }, 'POST /register')).status, {
          timeout: 90_000,
          interval: 500,
        })
        .toBe(200);
    beforeEach(settled, 100_000);
    /** Registers repeatedly: sections of each owner pass through processes of both versions. */
    const registering = () => {
      const refusals: unknown[] = [];
      let [answers, isOver] = [0, false];
      const loop = (async () => {
        for (const { owner } = cluster.people; !isOver; await pause(200)) {
          const { status, body } = await request(cluster.url, { ...owner, headers }, 'POST /register');
          const isWhole =
            body.realm_users?.some((user: Answer) => user.user_id === owner.user_id) && body.streams?.length;
          if (status === 200 && isWhole && body.queue_id) answers++;
          else refusals.push([status, body.code, Object.keys(body)]);
          await request(cluster.url, { ...owner, headers }, 'DELETE /events', { queue_id: body.queue_id });
        }
      })();
      const end = async () => {
        isOver = true;
        await loop;
        return { answers, refusals };
      };
      return { end };
    };
    const members = (kind: (typeof kinds)[number]) => cluster.services().filter((service) => service.kind === kind);
    const load = (disturb: (tick: () => void) => Promise<void>): Promise<Report> =>
      underDisturbance(cluster, clients, disturb, headers);
    const expectWhole = (what: string, report: Report): void => {
      console.log(
        `e2e: ${what}: ${report.acknowledged} acknowledged, in flight ${report.inFlightAtDisturbances.join(' ')}, ${report.failures.length} requests tried again`,
      );
      expect(report.problems).toEqual([]);
      expect(report.acknowledged).toBeGreaterThan(0);
      expect(report.inFlightAtDisturbances.some((count) => count > 0)).toBe(true);
    };

    test('is one small image that runs without root and is labelled', async () => {
      const { User, Labels, Size } = await cluster.inspectImage(images?.natter ?? '');
      expect(User).toBe('10001:10001');
      expect(Size).toBeLessThan(200_000_000);
      expect(Object.keys(Labels)).toEqual(
        expect.arrayContaining(['version', 'revision', 'licenses'].map((name) => `org.opencontainers.image.${name}`)),
      );
    });

    test('delivers the first message to a client that follows', async () => {
      const { url, people } = cluster;
      const follower = await follow(url, people.member, headers);
      const sent = await request(url, people.owner, 'POST /messages', {
        type: 'channel',
        to: 'general',
        topic: 'first',
        content: 'Hello from a container',
      });
      expect(sent.status).toBe(200);
      await expect.poll(() => follower.contents, { timeout: 60_000 }).toEqual(['Hello from a container']);
      follower.stop();
    });

    test('responds from every service, each with only its own credentials', async () => {
      const { url, people } = cluster;
      const ask = async (method: string, path: string, form: Record<string, unknown> = {}): Promise<unknown> => {
        const { status, body } = await request(url, { ...people.member, headers }, `${method} ${path}`, form);
        return status === 200 ? 'answered' : body;
      };
      expect({
        users: await ask('GET', '/users'),
        channels: await ask('GET', '/streams'),
        messaging: await ask('POST', '/typing', { op: 'start', type: 'direct', to: [people.owner.user_id] }),
        presence: await ask('POST', '/users/me/presence', { status: 'active' }),
        'event-queue': await ask('POST', '/register'),
      }).toEqual({
        users: 'answered',
        channels: 'answered',
        messaging: 'answered',
        presence: 'answered',
        'event-queue': 'answered',
      });
    });

    test('passes natter doctor', async () => {
      const { code, output } = await cluster.natter('doctor', '--url', 'http://balancer:8080');
      expect(output).not.toContain('FAIL');
      expect(code).toBe(0);
    });

    test(
      'does not lose, duplicate or reorder messages when any service is killed or paused',
      async () => {
        const report = await load(async (tick) => {
          for (let round = 0; round < rounds; round++) {
            for (const kind of kinds) {
              await pause(100 + random() * 400);
              const { box } = pick(members(kind));
              tick();
              await box.kill();
              await pause(500);
              await box.start();
              await cluster.ready(box.name);
              const other = pick(members(kind)).box;
              tick();
              await other.pause();
              await pause(2_000);
              await other.unpause();
            }
          }
        });
        expectWhole('every service killed and paused', report);
      },
      rounds * roundMs,
    );

    test(
      'does not lose, duplicate or reorder messages when a server is killed or paused, or Redis wiped',
      async () => {
        const report = await load(async (tick) => {
          for (let round = 0; round < rounds; round++) {
            for (const name of backends) {
              const box = cluster.backends[name];
              await pause(200 + random() * 500);
              tick();
              await box.kill();
              await pause(500);
              await box.start();
              await pause(3_000);
              tick();
              await box.pause();
              await pause(3_000);
              await box.unpause();
              await pause(2_000);
            }
            tick();
            const wiped = await cluster.backends.redis.exec([
              'redis-cli',
              '--user',
              'wiper',
              '--pass',
              'wipe',
              'FLUSHALL',
            ]);
            expect(wiped.output).toContain('OK');
            await pause(1_500);
          }
        });
        expectWhole('Postgres, Redis and NATS killed and paused, Redis wiped', report);
      },
      rounds * roundMs,
    );

    test(
      'does not lose, duplicate or reorder messages when the network between any two is cut',
      async () => {
        const report = await load(async (tick) => {
          for (let round = 0; round < rounds; round++) {
            for (const kind of kinds)
              for (const backend of kind === 'gateway' ? (['redis', 'nats'] as const) : backends) {
                const { box } = pick(members(kind));
                await pause(50 + random() * 200);
                tick();
                await box.cut(cluster.networkOf(backend));
                await pause(1_500);
                await box.heal(cluster.networkOf(backend));
              }
            await pause(2_000);
          }
        });
        expectWhole('each network cut', report);
      },
      rounds * roundMs,
    );

    test('does not acknowledge writes that a full disk under Postgres would lose, and recovers when there is room', async () => {
      const report = await load(async (tick) => {
        await pause(500);
        tick();
        await cluster.onDisk(
          'dd if=/dev/zero of=/disk/filler bs=1M 2>/dev/null; dd if=/dev/zero of=/disk/filler2 bs=4k 2>/dev/null; sync; df /disk | grep -q " 100% "',
        );
        await pause(6_000);
        tick();
        await cluster.onDisk('rm -f /disk/filler /disk/filler2');
        await pause(3_000);
        if (!(await cluster.backends.postgres.isRunning())) await cluster.backends.postgres.start();
        await pause(5_000);
      });
      expectWhole('a full disk', report);
    });

    test('works through a pooler in transaction mode, even if Postgres is killed behind it', async () => {
      if (!images) return;
      const pooled = await cluster.startPooler();
      const direct = cluster.services().filter(({ kind }) => kind !== 'gateway');
      const pooledName = ({ box }: (typeof direct)[number]): string => `${box.name}-pooled`;
      for (const one of direct) await cluster.startService(one.kind, pooledName(one), images.natter, pooled(one.kind));
      await Promise.all(direct.map((one) => cluster.ready(pooledName(one))));
      await Promise.all(direct.map(({ box }) => box.stop(30)));
      await settled();
      const report = await load(async (tick) => {
        await pause(3_000);
        tick();
        await cluster.backends.postgres.kill();
        await pause(500);
        await cluster.backends.postgres.start();
        await pause(5_000);
      });
      for (const { box } of direct) await box.start();
      await Promise.all(direct.map(({ box }) => cluster.ready(box.name)));
      const ending = cluster.services().filter(({ box }) => box.name.endsWith('-pooled'));
      await Promise.all(ending.map(({ box }) => box.stop(30)));
      await Promise.all(ending.map(({ box }) => cluster.removeService(box)));
      expectWhole('a pooler in transaction mode', report);
    }, 400_000);

    test('completes all requests and keeps all queues while every container is replaced by a new version', async () => {
      if (!images) return;
      for (const number of [1, 2])
        await Promise.all(
          kinds.map((kind) => {
            const name = `${kind}-${number}`;
            return replace(kind, name, { name, image: images.previous, surge: false });
          }),
        );
      await settled();
      const registers = registering();
      // Clients that keep their connections: they must be told in time to reconnect elsewhere.
      const report = await underDisturbance(cluster, clients, async (tick) => {
        for (const kind of kinds)
          for (const { box } of members(kind)) {
            tick();
            await replace(kind, box.name, { name: `${box.name}-new`, image: images.natter, surge: true });
          }
      });
      const { answers, refusals } = await registers.end();
      console.log(`e2e: ${answers} registers meanwhile`);
      expectWhole('rolling update', report);
      expect([report.failures, refusals]).toEqual([[], []]);
      expect(answers).toBeGreaterThan(0);
    }, 480_000);

    test('recovers from a backup without reusing an id', async () => {
      const { url, people, backends } = cluster;
      const post = async (content: string): Promise<number> => {
        const form = { type: 'channel', to: 'general', topic: 'backup', content };
        const { status, body } = await request(url, { ...people.owner, headers }, 'POST /messages', form);
        expect([status, body]).toEqual([200, expect.anything()]);
        return body.id as number;
      };
      const sql = async (command: string): Promise<void> => {
        const environment =
          'PGHOST=127.0.0.1 PGUSER=natter PGPASSWORD="$POSTGRES_PASSWORD" PATH="$(echo /usr/lib/postgresql/*/bin):$PATH"';
        const { code, output } = await backends.postgres.exec([
          'sh',
          '-c',
          `export ${environment}; cd /var/lib/postgresql/data && ${command}`,
        ]);
        expect([command, code, code === 0 ? '' : output]).toEqual([command, 0, '']);
      };
      const kept = await post('before the backup');
      await sql('pg_dumpall --roles-only --no-role-passwords > roles.sql');
      await sql('pg_dump --format=custom --file=natter.dump natter');
      const follower = await follow(url, people.member, headers);
      const lost = await post('after the backup');
      const highest = lost;

      // The disk is gone; only the backup is left.
      await Promise.all(cluster.services().map(({ box }) => box.stop(30)));
      await backends.postgres.stop(30);
      await cluster.onDisk('rm -rf /disk/natter');
      await backends.postgres.start();
      await expect
        .poll(
          async () =>
            (
              await backends.postgres.exec([
                'sh',
                '-c',
                'PGPASSWORD="$POSTGRES_PASSWORD" psql -h 127.0.0.1 -U natter -c "SELECT 1" natter',
              ])
            ).code,
          { timeout: 60_000 },
        )
        .toBe(0);
      await sql('(grep -v "ROLE natter\\( \\|;\\)" roles.sql | psql -q -v ON_ERROR_STOP=1 natter)');
      await sql('pg_restore --exit-on-error --no-owner --dbname=natter natter.dump');
      for (const command of [['migrate', '--set-passwords'], ['after-restore']]) {
        const { code, output } = await cluster.natter(...command);
        expect([command, code, output]).toEqual([command, 0, expect.stringContaining('')]);
      }
      for (const { box } of cluster.services()) await box.start();
      await Promise.all(cluster.services().map(({ box }) => cluster.ready(box.name)));

      // A reaction succeeds only if the message exists.
      const react = (id: number) =>
        request(url, { ...people.owner, headers }, `POST /messages/${id}/reactions`, { emoji_name: 'wave' });
      expect((await react(kept)).status).toBe(200);
      expect((await react(lost)).status).toBe(400);
      expect(await post('after the restore')).toBeGreaterThan(highest + 100_000);
      await expect.poll(() => follower.lost, { timeout: 60_000 }).toContain('BAD_EVENT_QUEUE_ID');
      const again = await follow(url, people.member, headers);
      await post('to who registered again');
      await expect.poll(() => again.contents, { timeout: 60_000 }).toEqual(['to who registered again']);
      expect((await cluster.natter('doctor')).output).not.toContain('FAIL');
      follower.stop();
      again.stop();
    });

    /** With `surge` like a rolling update: the new one is ready before the old one gets SIGTERM. */
    async function replace(
      kind: (typeof kinds)[number],
      old: string,
      { name, image, surge }: { name: string; image: string; surge: boolean },
    ) {
      const box = cluster.services().find((service) => service.box.name === old)?.box;
      if (!box) throw new Error(`no ${old}`);
      const bring = async (): Promise<void> => {
        await cluster.startService(kind, name, image);
        await cluster.ready(name);
      };
      if (surge) await bring();
      expect(await box.stop(30), `${old} ends by itself when told to`).toBe(0);
      await cluster.removeService(box);
      if (!surge) await bring();
    }
  },
);
