import { faults } from '@natter/local/child';
import { openSystem } from '../open-system.ts';
import { runUnderKills } from './under-kills.ts';

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31));
const sequences = Number(process.env.SEQUENCES ?? 10_000);
console.log(`seed ${seed}, ${sequences} sequences (give the seed as the first argument to repeat)`);
const system = await openSystem({ replicas: { 'event-queue': 2 }, log: console.log });
const began = Date.now();
const { ran, counts, problems, inFlight, askedAgain } = await runUnderKills(system, {
  sequences,
  seed,
  disturbed: 0.001,
  atOnce: 32,
  onProgress: (done) => {
    if (done % 500 === 0) console.log(`${done} sequences, ${Math.round((Date.now() - began) / 1000)} s`);
  },
});
await system.stop();
console.log(`${ran} sequences:`, counts);
console.log(`in flight at each kill and wipe: ${inFlight.join(' ')}; ${askedAgain} requests asked again`, ...problems);
for (const fault of faults) console.log(`fault: ${fault}`);
const isWhole = faults.length === 0 && problems.length === 0 && ran === sequences;
console.log(isWhole ? 'as the model says' : `${problems.length} problems, ${faults.length} faults of processes`);
process.exit(isWhole ? 0 : 1);
