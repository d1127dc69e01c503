import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildWebClient } from '@natter/web/build';
import { localDirectory, privateDirectory } from './private-directory.ts';
import { repositoryRoot } from './repository-root.ts';
import { restartChanged } from './restart-changed.ts';
import { openRunLog } from './run-log.ts';
import { type System, startSystem } from './system.ts';
import { createDemoTable } from './table.ts';

const { fresh, watch } = readOptions();
const dataDir = localDirectory();
await privateDirectory(dataDir);
// The full log of the last run; the terminal shows a short form.
const logs = openRunLog(resolve(dataDir, 'natter.log'));
const startedAt = Date.now();
const port = Number(process.env.NATTER_HTTP_PORT || 9991);

const starting = new AbortController();
let started: Promise<System> | undefined;
let system: System | undefined;
let isStopping = false;
let stopWatching: (() => void) | undefined;
const stop = async (): Promise<void> => {
  // Ctrl-C arrives twice: from the terminal and from the parent.
  if (isStopping) return;
  isStopping = true;
  console.log('natter: stopping');
  stopWatching?.();
  starting.abort(new Error('stopped while starting'));
  await started?.catch(() => undefined);
  await system?.stop();
  console.log('natter: stopped');
  process.exit(0);
};
process.on('SIGINT', stop);
process.on('SIGTERM', stop);

if (await buildWebClient()) console.log('natter: built the web client');
started = startSystem({
  dataDir,
  fresh,
  port,
  env: process.env,
  signal: starting.signal,
  replacesStopped: true,
  log: (line) => console.log(`natter: ${line}`),
  onMail: ({ to, subject, text }) => console.log(`natter: mail to ${to}: ${subject}\n${text}`),
  onLine: (line) => {
    logs.write(line);
    console.log(readable(line));
  },
});
try {
  system = await started;
  console.log(createDemoTable(system.url, system.people, system.children, '.natter/natter.log'));
  console.log(`natter: ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s. Ctrl-C stops everything.`);
  if (watch)
    stopWatching = restartChanged({
      children: system.children,
      root: repositoryRoot,
      log: (line) => console.log(`natter: ${line}`),
      buildWebClient,
    });
} catch (error) {
  if (!isStopping) {
    console.error(`natter: cannot start: ${(error as Error).message}`);
    logs.end(`${(error as Error).stack}\n`, () => process.exit(1));
  }
}

function readable(line: string): string {
  try {
    const { time, level, service, msg, err } = JSON.parse(line) as {
      time: string;
      level: number;
      service: string;
      msg: string;
      err?: { message?: string };
    };
    const severity = level >= 50 ? 'ERROR' : level >= 40 ? 'WARN ' : 'info ';
    return `${time.slice(11, 23)} ${severity} ${service.padEnd(12)} ${msg}${err?.message ? `: ${err.message}` : ''}`;
  } catch {
    return line;
  }
}

/** An option with a typing error must not start a system with the data of earlier runs. */
function readOptions(): { fresh: boolean; watch: boolean } {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ options: { fresh: flag, watch: flag } }).values;
  } catch (error) {
    console.error(`natter: ${(error as Error).message}\nusage: npm start [-- --fresh]`);
    return process.exit(2);
  }
}
