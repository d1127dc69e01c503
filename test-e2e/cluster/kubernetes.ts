/** kubectl and helm against the cluster that KUBECONFIG names, in the namespace of the run. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { helm as packagedHelm } from '@natter/helm';

export const namespace = process.env.NATTER_NAMESPACE ?? `natter-e2e-${process.pid}`;
const began = Date.now();

/** With helm on the path, as on the machine of an operator. */
export const environment = {
  ...process.env,
  PATH: [dirname(packagedHelm ?? ''), process.env.PATH].join(delimiter),
};

export interface Options {
  input?: string;
  /** A failure is returned as text instead of thrown. */
  mayFail?: boolean;
}

export const kubectl = (args: string[], options: Options = {}): string =>
  run('kubectl', ['-n', namespace, ...args], options);
export const helm = (args: string[], options: Options = {}): string =>
  run(packagedHelm ?? 'helm', ['-n', namespace, ...args], options);

export function run(command: string, args: string[], { input, mayFail = false }: Options = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    input: input ?? '',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  if (mayFail) return `${stdout}${stderr}`;
  throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
}

/** Standard output of kubectl, without the names' kinds: `pod/a` is `a`. */
export const namesOf = (kind: string, selector?: string): string[] =>
  kubectl(['get', kind, '-o', 'name', ...(selector ? ['-l', selector] : [])])
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^[^/]*\//, ''));

export const json = <T>(args: string[]): T => JSON.parse(kubectl([...args, '-o', 'json'])) as T;

export interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: {
    phase: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: { restartCount: number }[];
  };
}

const componentIs = (component: string, release = 'natter'): string =>
  `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${component}`;

export const podsOf = (component: string): Pod[] =>
  json<{ items: Pod[] }>(['get', 'pods', '-l', componentIs(component)]).items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );

const isReady = ({ status }: Pod): boolean =>
  status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;

/** Waits until a component has `count` pods that are ready, and no others. */
export async function untilReady(component: string, count: number, limitSeconds = 300): Promise<Pod[]> {
  let pods: Pod[] = [];
  await until(`${count} ready pods of ${component}`, limitSeconds, () => {
    pods = podsOf(component);
    return pods.length === count && pods.every(isReady);
  });
  return pods;
}

export async function until(what: string, limitSeconds: number, isTrue: () => boolean): Promise<number> {
  const since = Date.now();
  while (!isTrue()) {
    if (Date.now() - since > limitSeconds * 1_000) throw new Error(`${what}: not within ${limitSeconds} s`);
    await seconds(1);
  }
  return Math.round((Date.now() - since) / 1_000);
}

export const seconds = (count: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, count * 1_000);
  });

export function step(name: string): void {
  console.log(`cluster: ${name} (${Math.round((Date.now() - began) / 1_000)} s)`);
}

/** Runs kubectl with --watch beside everything else. `stop` returns the lines that it printed. */
export function watch(args: string[]): { stop(): string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'natter-watch-'));
  const path = join(directory, 'lines');
  const file = openSync(path, 'w');
  const child: ChildProcess = spawn('kubectl', ['-n', namespace, ...args, '--watch'], {
    stdio: ['ignore', file, 'ignore'],
  });
  const end = (): void => void child.kill();
  // A part that fails does not stop its watch.
  process.once('exit', end);
  return {
    stop: () => {
      process.off('exit', end);
      end();
      closeSync(file);
      const lines = readFileSync(path, 'utf8').split('\n');
      rmSync(directory, { recursive: true });
      return lines.filter((line) => line !== '');
    },
  };
}
