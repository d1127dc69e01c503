/** Runs one target on mutated texts and keeps those that reach new code. */
import { Session } from 'node:inspector/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createRandom } from '../../random.ts';
import { mutated } from './mutate.ts';
import { targets } from './targets.ts';

interface Work {
  target: string;
  seed: number;
  ms: number;
  skip: string[];
}
const { target: name, seed, ms, skip } = workerData as Work;
const target = targets[name];
if (!target) throw new Error(`no target ${name}`);
const random = createRandom(seed);
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
const reached = new Set<string>();
const corpus: string[] = [];
let runs = 0;
const end = Date.now() + ms;

for (const text of target.seeds) await attempt(text);
while (Date.now() < end) await attempt(mutated(corpus, random));
parentPort?.postMessage({ kind: 'done', runs, corpus: corpus.length, reached: reached.size });

async function attempt(text: string): Promise<void> {
  if (!target || skip.includes(text)) return;
  runs++;
  parentPort?.postMessage({ kind: 'begin', text });
  const before = process.threadCpuUsage();
  let problem: string | undefined;
  try {
    await target.run(text);
  } catch (error) {
    problem = problemOf(error);
  }
  const { user, system } = process.threadCpuUsage(before);
  const tookMs = (user + system) / 1_000;
  if (tookMs > target.limitMs) problem ??= `took ${Math.round(tookMs)} ms of CPU`;
  parentPort?.postMessage({ kind: 'end', text, problem });
  if (await isNew()) corpus.push(text);
  else if (corpus.length === 0) corpus.push(text);
}

/** Refusals are expected results; invalid JSON is refused before these functions. */
function problemOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return `threw ${String(error)}`;
  if (error.name === 'ChatError' && (error as Error & { status: number }).status < 500) return undefined;
  if (error instanceof SyntaxError && error.message.includes('JSON')) return undefined;
  return error.stack ?? error.message;
}

async function isNew(): Promise<boolean> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const before = reached.size;
  for (const { url, functions } of result) {
    if (!/\/(libs|services)\/|katex|highlight|re2js/.test(url) || url.includes('/test-e2e/')) continue;
    // Loops that ran much more often count as new coverage too.
    for (const { ranges } of functions)
      for (const { count, startOffset, endOffset } of ranges)
        if (count > 0) reached.add(`${url}:${startOffset}:${endOffset}:${Math.min(Math.floor(Math.log2(count)), 12)}`);
  }
  return reached.size > before;
}
