/** `npm run dev`: restarts the processes whose code changed. */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { ServiceProgram } from '@natter/contracts';
import type { Child } from './child.ts';
import { packageFolders } from './packages.ts';

export interface Watching {
  children: Child[];
  root: string;
  log: (line: string) => void;
  /** Builds the web client, which gateways read at their start. */
  buildWebClient: () => Promise<unknown>;
}

/** Editors write a file in several steps; one restart follows all changes of this time. */
const settledMs = 100;

const folderOf = (program: ServiceProgram): string => `services/${program === 'scheduler' ? 'messaging' : program}`;

/** Watches the sources of all packages. Returns a function that ends it. */
export function restartChanged({ children, root, log, buildWebClient }: Watching): () => void {
  const uses = packageFolders(root);
  const changed = new Map<string, string>();
  /** The last restart of each program; the next one waits for it. */
  const restarts = new Map<ServiceProgram, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  const watchers = [...uses.keys()].flatMap((folder) => sources(folder));

  function sources(folder: string): FSWatcher[] {
    const migrations = folder === 'libs/database' ? [watch(join(root, folder, 'migrations'), migrationChanged)] : [];
    const watcher = watch(join(root, folder, 'src'), { recursive: true }, (_, file) => {
      if (!file || file.endsWith('.test.ts')) return;
      changed.set(folder, `${folder}/src/${file}`);
      clearTimeout(timer);
      timer = setTimeout(restart, settledMs);
    });
    return [watcher, ...migrations];
  }

  function migrationChanged(): void {
    log('a migration changed: start npm run dev again to run it (with --fresh if it had run before)');
  }

  function restart(): void {
    const folders = new Map(changed);
    changed.clear();
    for (const [program, processes] of Map.groupBy(children, (child) => child.program)) {
      const used = uses.get(folderOf(program));
      const fileOf = (users: Set<string> | undefined): string | undefined =>
        [...folders].find(([folder]) => users?.has(folder))?.[1];
      const page = program === 'gateway' ? fileOf(uses.get('services/web')) : undefined;
      const file = fileOf(used) ?? page;
      if (file === undefined) continue;
      const before = (restarts.get(program) ?? Promise.resolve()).then(() =>
        page === undefined ? undefined : build(),
      );
      restarts.set(
        program,
        before.then(() => restartEach(processes, file)),
      );
    }
  }

  async function build(): Promise<void> {
    await buildWebClient().catch((error: unknown) => log(`the web client is not built: ${error}`));
  }

  /** Restarts one process after another. If one does not start, the others keep running the previous code. */
  async function restartEach(processes: Child[], file: string): Promise<void> {
    for (const child of processes) if (!(await restartOne(child, file))) return;
  }

  async function restartOne(child: Child, file: string): Promise<boolean> {
    const startedAt = Date.now();
    const before = child.pid();
    // Draining takes seconds. Everything tolerates that a process is killed.
    child.kill('SIGKILL');
    while (child.pid() === before) await new Promise((resolve) => setTimeout(resolve, 20));
    try {
      await child.ready();
      log(`${child.program} ${child.index} runs ${file} after ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
      return true;
    } catch {
      log(`${child.program} ${child.index} does not start with ${file}; change it again`);
      return false;
    }
  }

  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
