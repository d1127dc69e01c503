/**
 * `npm run simulate -- [--schedules 10000] [--seed N] [--log]`: explores schedules, or replays the schedule of a seed.
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { runSchedule } from './schedule.ts';

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '10000' },
    /** The first seed; seeds are consecutive. */
    from: { type: 'string' },
    seed: { type: 'string' },
    first: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
  },
});

// Compiling schemas and collecting stack traces would cost more than the simulation.
z.config({ jitless: true });
if (!values.log) Error.stackTraceLimit = 0;

const onLine = values.log ? (line: string) => console.log(line) : undefined;
const first = Number(values.seed ?? values.from ?? Math.floor(Math.random() * 1e9));
const count = values.seed === undefined ? Number(values.schedules) : 1;
const began = process.cpuUsage();
const total = { steps: 0, events: 0, delivered: 0, simulatedMs: 0 };
let failures = 0;
console.log(`${count} schedules from seed ${first}`);
for (let seed = first; seed < first + count; seed++) {
  const outcome = await runSchedule(seed, { onLine });
  for (const name of ['steps', 'events', 'delivered', 'simulatedMs'] as const) total[name] += outcome[name];
  if (outcome.violations.length > 0) {
    failures++;
    console.log(`\nseed ${seed} (replay: npm run simulate -- --seed ${seed} --log)`);
    for (const violation of outcome.violations) console.log(`  ${violation}`);
  }
  if (failures >= (values.first ? 1 : 10)) break;
  // Lets code outside the simulation run.
  if (seed % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  if (count === 1) console.log(outcome);
}
const { user, system } = process.cpuUsage(began);
console.log(
  `${failures} schedules broke a promise; ${total.events} events committed, ${total.delivered} delivered, ${total.steps} steps, ` +
    `${Math.round(total.simulatedMs / 1_000)} s simulated in ${((user + system) / 1e6).toFixed(1)} s of CPU`,
);
process.exit(failures > 0 ? 1 : 0);
