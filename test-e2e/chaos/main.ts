/**
 * `npm run test:chaos`: every fault that the reliability page names, one after the other in an order that a seed decides, under
 * a load of all kinds of writes and reads, with two processes of everything. After each fault every client's state is compared
 * with a fresh register, with the feeds and with a replay of the record. Prints a Markdown table of the faults, and one of the
 * memory of each process; ends with 1 if a promise was broken.
 */
import { parseArgs } from 'node:util';
import { faults as faultsOfProcesses } from '@natter/local/child';
import { request } from '../api.ts';
import { randomOf } from '../kills.ts';
import { compare } from './compare.ts';
import { type Fault, pause } from './fault.ts';
import { faultsOf } from './faults.ts';
import { startLoad } from './load.ts';
import { watchMemory } from './memory.ts';
import { type Measured, type Row, table } from './table.ts';
import { watch } from './watcher.ts';
import { startWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    hours: { type: 'string' },
    seed: { type: 'string' },
    /** Seconds from the beginning of one fault to that of the next; more if a fault and its checks take longer. */
    every: { type: 'string' },
    /**
     * Only faults whose name contains this text; with `+` two faults at once. The option may be given several times. Each fault
     * runs once, however long that takes.
     */
    fault: { type: 'string', multiple: true },
    list: { type: 'boolean' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const random = randomOf(seed);
const everyMs = 1_000 * Number(values.every ?? 0);
const untilMs = Date.now() + 60_000 * (values.hours ? 60 * Number(values.hours) : Number(values.minutes ?? 20));
console.error(`seed ${seed}`);

const stopped = new AbortController();
let isStopped = false;
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    isStopped = true;
    stopped.abort();
  });
const world = await startWorld(stopped.signal);
const { system } = world;
const at = { url: system.url, redisUrl: system.servers.redisUrl };
const { owner, administrator, moderator, member, member2 } = system.people;
const people = [owner, administrator, moderator, member, member2];
const rows: Row[] = [];
try {
  const all = faultsOf(world, random);
  const wanted = values.fault
    ? all.filter(({ name }) =>
        values.fault?.some((part) => name.includes(part) && name.includes('+') === part.includes('+')),
      )
    : shuffled(all);
  if (values.list) for (const { name } of wanted) console.log(name);
  else await run(wanted);
} finally {
  await world.stop();
}
process.exitCode = rows.some((row) => 'problems' in row && row.problems.length > 0) ? 1 : 0;
process.exit();

async function run(faults: Fault[]): Promise<void> {
  // On a slow machine, clients change messages long after they sent them.
  const limits = {
    message_content_edit_limit_seconds: '"unlimited"',
    message_content_delete_limit_seconds: '"unlimited"',
  };
  const { status } = await request(system.url, owner, 'PATCH /realm', limits);
  if (status !== 200) throw new Error(`the limits were not changed: ${status}`);
  const load = await startLoad(system.url, people, 2);
  const watchers = await Promise.all([owner, ...people].map((who) => watch(system.url, who)));
  // Caches are warm, channels and groups of clients exist.
  load.begin();
  await pause(5_000);
  await load.pause();
  const memory = watchMemory(() => system.children.map((child) => [`${child.program} ${child.index}`, child.pid()]));
  for (let round = 0; !isStopped && (round === 0 || (!values.fault && Date.now() < untilMs)); round++)
    for (const fault of faults) {
      if (isStopped || (!values.fault && Date.now() > untilMs)) break;
      if (fault.skipped) {
        rows.push({ fault: fault.name, skipped: fault.skipped });
        continue;
      }
      const [row] = await Promise.all([measure(fault), pause(everyMs)]);
      rows.push(row);
      console.error(table([row]).split('\n').at(-1));
      for (const line of [...row.problems.slice(0, 10), ...new Set(row.polls), ...row.errors.slice(0, 3)])
        console.error(`  ${line.slice(0, 500)}`);
    }
  await load.stop();
  memory.stop();
  for (const watcher of watchers) watcher.stop();
  console.log(`${table(rows)}\n\n${memory.table()}\n\nseed ${seed}`);

  async function measure(fault: Fault): Promise<Measured> {
    for (const watcher of watchers) watcher.mark();
    world.takeErrors();
    load.begin();
    await pause(1_000 + random() * 1_000);
    const began = performance.now();
    await fault.cause();
    const outageMs = performance.now() - began;
    await pause(3_000);
    await load.pause();
    const problems = await compare(at, watchers, { owner, sent: load.sent });
    problems.push(...load.figures.problems, ...faultsOfProcesses.splice(0));
    // A broken watcher is replaced, so that one problem is reported once.
    for (const [index, watcher] of watchers.entries())
      if (problems.some((problem) => problem.startsWith(`watcher ${index}:`))) {
        watcher.stop();
        watchers[index] = await watch(system.url, watcher.who);
      }
    return {
      fault: fault.name,
      kind: fault.kind,
      outageMs,
      figures: load.figures,
      polls: watchers.flatMap(({ failures }) => failures),
      deliveryMs: Math.max(...watchers.map(({ longestDeliveryMs }) => longestDeliveryMs)),
      problems,
      errors: world.takeErrors(),
    };
  }
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((one) => [random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}
