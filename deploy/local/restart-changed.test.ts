import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceProgram } from '@natter/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Child } from './child.ts';
import { restartChanged } from './restart-changed.ts';

let root: string;
let end: () => void;
/** A program stands here twice where one write was seen as two changes. */
let killed: string[];
let logged: string[];

const addPackage = (folder: string, uses: string[] = []): void => {
  mkdirSync(join(root, folder, 'src'), { recursive: true });
  const dependencies = Object.fromEntries(uses.map((name) => [`@natter/${name}`, 'workspace:*']));
  writeFileSync(
    join(root, folder, 'package.json'),
    JSON.stringify({ name: `@natter/${folder.split('/')[1]}`, dependencies }),
  );
};

/** A process that runs again as soon as it is killed; with `starts: false` it ends before it is ready. */
const child = (program: ServiceProgram, { starts = true, index = 0 } = {}): Child => {
  let pid = 1;
  return {
    program,
    index,
    pid: () => pid,
    ready: () => (starts ? Promise.resolve() : Promise.reject(new Error('ended'))),
    operationsPort: () => undefined,
    kill: () => {
      killed.push(index === 0 ? program : `${program} ${index}`);
      pid++;
    },
    stop: async () => undefined,
  };
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'natter-watch-'));
  killed = [];
  logged = [];
  addPackage('libs/contracts');
  addPackage('libs/database', ['contracts']);
  mkdirSync(join(root, 'libs/database/migrations'));
  addPackage('services/users', ['database']);
  addPackage('services/messaging', ['database']);
  addPackage('services/presence', ['contracts']);
  addPackage('services/gateway', []);
  addPackage('services/web', []);
  end = restartChanged({
    children: [
      ...[child('users'), child('messaging'), child('scheduler'), child('gateway')],
      ...[child('presence', { starts: false }), child('presence', { index: 1 })],
    ],
    root,
    log: (line) => logged.push(line),
    buildWebClient: async () => killed.push('built'),
  });
});
afterEach(() => end());

const programs = (): string[] => [...new Set(killed)].sort();
const change = (file: string): void => writeFileSync(join(root, file), 'changed');

test('only a changed service restarts, with every program of its folder', async () => {
  change('services/messaging/src/service.ts');
  await expect.poll(() => programs()).toEqual(['messaging', 'scheduler']);
  await expect.poll(() => logged.some((line) => line.startsWith('messaging 0 runs services/messaging/src'))).toBe(true);
});

test('a changed library restarts the services that use it, directly or through another library', async () => {
  change('libs/contracts/src/index.ts');
  await expect.poll(() => programs()).toEqual(['messaging', 'presence', 'scheduler', 'users']);
  await expect.poll(() => logged.some((line) => line.startsWith('presence 0 does not start'))).toBe(true);
});

test('if a process does not start after a change, the next process of its service keeps the old code', async () => {
  change('services/presence/src/service.ts');
  change('services/gateway/src/service.ts');
  await expect.poll(() => logged.some((line) => line.startsWith('presence 0 does not start'))).toBe(true);
  await expect.poll(() => logged.some((line) => line.startsWith('gateway 0 runs'))).toBe(true);
  expect(programs()).toEqual(['gateway', 'presence']);
});

test('changed tests do not restart a process, and changed migrations are reported', async () => {
  change('services/users/src/service.test.ts');
  change('libs/database/migrations/001.sql');
  await expect.poll(() => logged.some((line) => line.startsWith('a migration changed'))).toBe(true);
  change('services/presence/src/service.ts');
  await expect.poll(() => programs()).toEqual(['presence']);
});

test('a change of the web client rebuilds it and restarts the gateways that serve it', async () => {
  change('services/web/src/main.ts');
  await expect.poll(() => killed.slice(0, 2)).toEqual(['built', 'gateway']);
});
