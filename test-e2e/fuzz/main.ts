/** `npm run fuzz`: attacks a system that it starts, with requests made from the contract. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuOf, differenceOf } from '../measure/processes.ts';
import { createFindings, restored } from './findings.ts';
import { fuzz } from './fuzz.ts';
import { gapsOf, requestsToTell } from './gaps.ts';
import { replay } from './replay.ts';
import { openNeighbour } from './target/neighbour.ts';
import { type Memory, startWatched } from './target/watched-system.ts';
import { connectOperator } from './target/world.ts';

const { values: given } = parseArgs({
  options: {
    requests: { type: 'string' },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    operation: { type: 'string' },
    lanes: { type: 'string', default: '24' },
    replay: { type: 'string' },
    profile: { type: 'string' },
  },
});
const seed = Number(given.seed ?? Math.floor(Math.random() * 2 ** 31));
const minutes = Number(given.minutes ?? (given.requests === undefined ? 1 : 24 * 60));
const requests = Number(given.requests ?? Number.POSITIVE_INFINITY);
/** Maximum ratio and difference of used memory between the end of the run and the warm-up. */
const memoryShare = 1.5;
const memoryMib = 60;

console.log(`seed ${seed} (--seed ${seed} makes the same choices again)`);
const watched = await startWatched((line) => console.error(`fuzz: ${line}`), given.profile);
const findings = createFindings(watched.directory, watched.system.url);
const operator = await connectOperator(watched.system);
/** The first signal ends the run and prints its findings so far; a second one exits at once. */
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (ending.signal.aborted) void stop().then(() => process.exit(130));
    else ending.abort();
  });
let stopped: Promise<void> | undefined;
function stop(): Promise<void> {
  stopped ??= operator.bus.drain().then(() => watched.stop());
  return stopped;
}

const neighbour = await openNeighbour(operator, watched.system.servers.postgresUrl);
let sent = 0;
if (given.replay !== undefined) {
  const lines = (await readFile(given.replay, 'utf8')).split('\n').filter(Boolean);
  const calls = lines.flatMap((line) => restored(line) ?? []);
  sent = await replay(calls, { watched, operator, neighbour, findings });
} else sent = await run();
const changes = await neighbour.changes().catch((error: unknown) => [`the neighbour could not be asked: ${error}`]);
for (const change of changes) findings.add(change);
for (const problem of watched.problems()) findings.add(problem);
await stop();
console.log(
  `\n${sent} requests, ${findings.all.length} findings (seed ${seed}); logs and requests: ${watched.directory}`,
);
for (const { problem, count } of findings.all) console.log(`  ${count} × ${problem.slice(0, 300)}`);
process.exit(findings.all.length === 0 ? 0 : 1);

async function run(): Promise<number> {
  const began = Date.now();
  const cpuBefore = cpuNow();
  let last = { atMs: began, count: 0, cpu: cpuBefore };
  let warm: Record<string, Memory> | undefined;
  const untilMs = began + minutes * 60_000;
  const { sent, coverage, chosen, summary } = await fuzz({
    watched,
    operator,
    neighbour,
    findings,
    seed,
    requests,
    untilMs,
    signal: ending.signal,
    operation: given.operation,
    lanes: Number(given.lanes),
    onProgress: async (count) => {
      const now = { atMs: Date.now(), count, cpu: cpuNow() };
      const rate = ((count - last.count) * 1000) / (now.atMs - last.atMs);
      const cpu = perRequest(differenceOf(now.cpu, last.cpu), count - last.count);
      console.error(
        `fuzz: ${count} requests, ${rate.toFixed(0)}/s, ${findings.all.length} findings; CPU in ms: ${cpu}`,
      );
      last = now;
      const isWarm = count >= Math.min(requests * 0.2, 25_000) || Date.now() - began > minutes * 15_000;
      if (!warm && isWarm) warm = await watched.memory();
    },
  });
  const seconds = (Date.now() - began) / 1000;
  coverage.print(chosen);
  console.log(summary);
  if (sent >= requestsToTell && given.operation === undefined)
    for (const gap of gapsOf(chosen, coverage.succeeded)) findings.add(gap);
  console.log(`\n${sent} requests in ${seconds.toFixed(0)} s, ${(sent / seconds).toFixed(0)}/s`);
  console.log(`CPU of a request in ms: ${perRequest(differenceOf(cpuNow(), cpuBefore), sent)}`);
  await sleep(5_000);
  compareMemory(warm, await watched.memory());
  return sent;
}

function cpuNow(): Record<string, number> {
  const { user, system } = process.cpuUsage();
  return { ...cpuOf(watched.groups), fuzz: (user + system) / 1_000 };
}

/** Text with the CPU time per request: the total, and that of each process, the largest first. */
function perRequest(usedMs: Record<string, number>, count: number): string {
  const total = Object.values(usedMs).reduce((sum, ms) => sum + ms, 0);
  const parts = Object.entries(usedMs).sort((a, b) => b[1] - a[1]);
  return [['all', total] as const, ...parts].map(([name, ms]) => `${name} ${(ms / count).toFixed(2)}`).join(', ');
}

function compareMemory(before: Record<string, Memory> | undefined, after: Record<string, Memory>): void {
  console.log('\nMemory in MiB after the warm-up and after the run: used after a collection (resident)');
  for (const [name, { usedMib, rssMib }] of Object.entries(after)) {
    const warm = before?.[name];
    console.log(`${name.padEnd(16)} ${warm ? `${warm.usedMib} (${warm.rssMib})` : '?'} → ${usedMib} (${rssMib})`);
    if (warm && usedMib > warm.usedMib * memoryShare + memoryMib)
      findings.add(`${name} uses ${usedMib} MiB after the run and ${warm.usedMib} MiB after the warm-up`);
  }
}
