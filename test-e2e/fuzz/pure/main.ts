/** `npm run fuzz:pure`: coverage-guided fuzzing of the functions that take text from users. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { localDirectory } from '@natter/local/private-directory';
import { targets } from './targets.ts';

const { values: given } = parseArgs({
  options: { seconds: { type: 'string', default: '30' }, seed: { type: 'string' }, target: { type: 'string' } },
});
const seed = Number(given.seed ?? Math.floor(Math.random() * 2 ** 31));
/** An input that takes longer counts as a hang. */
const hangMs = 15_000;
const directory = localDirectory('fuzz');
const found = new Map<string, string>();

console.log(`seed ${seed}`);
const names = Object.keys(targets)
  .filter((one) => given.target === undefined || one === given.target)
  .values();
/** Runs targets that no other lane has begun. */
async function runLane(): Promise<void> {
  for (const name of names) {
    const skip: string[] = [];
    // A text that hangs terminates its worker; the next worker skips it.
    for (let isOver = false; !isOver; ) isOver = await runTarget(name, skip);
  }
}
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, runLane));
console.log(`${found.size} findings`);
for (const [problem, file] of found) console.log(`  ${problem.slice(0, 400)}\n    ${file}`);
process.exit(found.size === 0 ? 0 : 1);

function runTarget(target: string, skip: string[]): Promise<boolean> {
  return new Promise((done) => {
    const workerData = { target, seed, ms: Number(given.seconds) * 1_000, skip };
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData, execArgv: ['--no-warnings'] });
    let current: { text: string; since: number } | undefined;
    const finish = (isOver: boolean): void => {
      clearInterval(timer);
      void worker.terminate().then(() => done(isOver));
    };
    const timer = setInterval(() => {
      if (!current || Date.now() - current.since < hangMs) return;
      report(target, current.text, `no end within ${hangMs} ms`);
      skip.push(current.text);
      finish(false);
    }, 500);
    worker.on('message', (message) => {
      if (message.kind === 'begin') current = { text: message.text, since: Date.now() };
      if (message.kind === 'end') {
        current = undefined;
        if (message.problem) report(target, message.text, message.problem);
      }
      if (message.kind === 'done') {
        const { runs, corpus, reached } = message;
        console.log(`${target.padEnd(14)} ${runs} inputs, ${corpus} kept, ${reached} places reached`);
        finish(true);
      }
    });
    worker.on('error', (error) => {
      report(target, current?.text ?? '', `ended its thread: ${error.stack ?? error.message}`);
      if (current) skip.push(current.text);
      finish(current === undefined);
    });
  });
}

function report(target: string, text: string, problem: string): void {
  const kind = `${target}: ${problem.replace(/\d+/g, '0').slice(0, 200)}`;
  if (found.has(kind)) return;
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${target}-${found.size}.txt`);
  writeFileSync(file, text);
  found.set(kind, file);
  console.log(`FINDING ${target}: ${problem.slice(0, 600)}\n  ${JSON.stringify(text.slice(0, 300))}`);
}
