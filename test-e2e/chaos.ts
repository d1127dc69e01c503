import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSystem } from '@natter/local/system';
import { killEveryServer, killEveryService, randomOf } from './kills.ts';

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.ROUNDS ?? 20);
console.log(`seed ${seed}, ${rounds} rounds (give the seed as the first argument to repeat)`);
const random = randomOf(seed);
const system = await startSystem({
  dataDir: await mkdtemp(join(tmpdir(), 'natter-chaos-')),
  replicas: 2,
  env: { ...process.env, NATTER_RATE_LIMIT: '1000000' },
  log: console.log,
});
let problems = 0;
for (let round = 1; round <= rounds; round++) {
  for (const [name, run] of [
    ['services', () => killEveryService(system, 20, 1, random)],
    ['servers', () => killEveryServer(system, 20, random)],
  ] as const) {
    const report = await run();
    problems += report.problems.length;
    console.log(
      `round ${round} ${name}: ${report.acknowledged} acknowledged, in flight at each kill ${report.inFlightAtDisturbances.join(' ')}`,
      ...report.problems,
    );
  }
}
await system.stop();
console.log(problems === 0 ? 'nothing lost, doubled or reordered' : `${problems} problems`);
process.exit(problems === 0 ? 0 : 1);
