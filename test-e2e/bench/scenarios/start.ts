import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median } from '../../measure/statistics.ts';
import { figure, type Scenario } from '../harness/scenario.ts';

const root = resolve(import.meta.dirname, '../../..');
const warmStarts = 3;

export const start: Scenario = {
  name: 'start',
  title: '`npm start` from a fresh clone with empty caches, and again',
  async run(bench) {
    await bench.target.stop();
    const folder = await mkdtemp(join(tmpdir(), 'natter-start-'));
    const clone = join(folder, 'natter');
    try {
      const { status, stderr } = spawnSync('git', ['clone', '-q', '--depth', '1', `file://${root}`, clone], {
        encoding: 'utf8',
      });
      if (status !== 0) return { skipped: `a clone of this checkout could not be made: ${stderr.trim()}` };
      const caches = {
        XDG_DATA_HOME: join(folder, 'data'),
        XDG_CACHE_HOME: join(folder, 'cache'),
        npm_config_cache: join(folder, 'npm'),
      };
      const cold = await secondsToReady(clone, caches);
      const warm: number[] = [];
      for (let index = 0; index < warmStarts; index++) warm.push(await secondsToReady(clone, caches));
      return {
        figures: [figure('cold_seconds', cold, 's'), figure('warm_seconds', median(warm), 's')],
        notes: [
          'Cold: nothing but Node and npm (packages, pnpm, Node 24, Redis and NATS are fetched unless the machine has them), a new database, and the demo realm.',
          'What is committed is started, not what lies in the working copy.',
        ],
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Time from the command to its ready line; then it is stopped as by Ctrl-C. */
function secondsToReady(cwd: string, caches: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = Date.now();
  return new Promise((done, fail) => {
    const port = String(20_000 + Math.floor(Math.random() * 10_000));
    const child = spawn(process.execPath, ['deploy/local/bootstrap.mjs', 'start'], {
      cwd,
      env: { ...process.env, ...caches, NATTER_HTTP_PORT: port },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let seconds: number | undefined;
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-5_000);
      if (seconds !== undefined || !/natter: ready after/.test(output)) return;
      seconds = (Date.now() - startedAt) / 1000;
      child.kill('SIGTERM');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const timer = setTimeout(() => child.kill('SIGTERM'), 300_000);
    child.once('exit', () => {
      clearTimeout(timer);
      if (seconds === undefined) fail(new Error(`npm start did not become ready:\n${output}`));
      else done(seconds);
    });
  });
}
