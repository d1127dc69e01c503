import { expect, test } from 'vitest';
import { layoutFaults } from './layout.ts';
import { readSources } from './source-files.ts';

/** The faults of a service `users` with these files, each with the files that it imports. */
const faultsOf = (files: Record<string, string>, service = 'users'): string[] =>
  layoutFaults(new Map(Object.entries(files).map(([file, text]) => [`services/${service}/src/${file}`, text])));

const importOf = (path: string) => `import { x } from '${path}';\n`;

test('all sources keep the rules of the layout', () => {
  const sources = readSources();
  expect(sources.size).toBeGreaterThan(900);
  expect(layoutFaults(sources)).toEqual([]);
});

test('wiring imports features, and features import the model', () => {
  expect(
    faultsOf({
      'main.ts': importOf('./service.ts'),
      'service.ts': importOf('./bots/bots.ts'),
      'bots/bots.ts': importOf('../model/bot-row.ts'),
      'model/bot-row.ts': '',
    }),
  ).toEqual([]);
});

test('lint fails on an import between features, however it is written', () => {
  for (const statement of [
    importOf('../users/users.ts'),
    `import {\n  type X,\n  x,\n} from '../users/users.ts';\n`,
    `import type { X } from '../users/users.ts';\n`,
    `export * from '../users/users.ts';\n`,
    `import '../users/users.ts';\n`,
    `const x = await import('../users/users.ts');\n`,
  ])
    expect(faultsOf({ 'bots/bots.ts': statement, 'users/users.ts': '' }), statement).toEqual([
      'services/users/src: bots/bots.ts imports users/users.ts of another feature',
    ]);
});

test('layers of the gateway may import each other, but not in a cycle', () => {
  const files = { 'routes/route.ts': importOf('../http/host.ts'), 'http/host.ts': '' };
  expect(faultsOf(files, 'gateway')).toEqual([]);
  const back = { ...files, 'http/port.ts': importOf('../routes/router.ts'), 'routes/router.ts': '' };
  expect(faultsOf(back, 'gateway')).toEqual(['services/gateway/src: cycle of folders: http routes']);
});

test('lint fails on an import of a file from a higher layer', () => {
  expect(faultsOf({ 'model/a.ts': importOf('../bots/bots.ts'), 'bots/bots.ts': '' })).toEqual([
    'services/users/src: model/a.ts imports bots/bots.ts, which lies above it',
  ]);
  expect(faultsOf({ 'bots/bots.ts': importOf('../service.ts'), 'service.ts': '' })).toEqual([
    'services/users/src: bots/bots.ts imports service.ts, which lies above it',
  ]);
});

test('lint fails on a cycle of files, including type imports, and on a cycle of folders', () => {
  const types = {
    'bots/a.ts': `import type { X } from './b.ts';\n`,
    'bots/b.ts': importOf('./c.ts'),
    'bots/c.ts': importOf('./a.ts'),
  };
  expect(faultsOf(types)).toEqual(['services/users/src: cycle of files: bots/a.ts bots/b.ts bots/c.ts']);
  const folders = {
    'model/a.ts': importOf('./mail/b.ts'),
    'model/mail/b.ts': '',
    'model/mail/c.ts': importOf('../d.ts'),
    'model/d.ts': '',
  };
  expect(faultsOf(folders)).toEqual(['services/users/src: cycle of folders: model model/mail']);
});

test('lint fails on a cycle of files, and on a cycle of folders, outside the services', () => {
  const files = new Map([
    ['libs/x/src/a.ts', importOf('./b.ts')],
    ['libs/x/src/b.ts', `import type { X } from './a.ts';\n`],
  ]);
  expect(layoutFaults(files)).toEqual(['cycle of files: libs/x/src/a.ts libs/x/src/b.ts']);
  const folders = new Map([
    ['test-e2e/c.ts', importOf('./deep/d.ts')],
    ['test-e2e/deep/d.ts', ''],
    ['test-e2e/deep/e.ts', importOf('../f.ts')],
    ['test-e2e/f.ts', ''],
  ]);
  expect(layoutFaults(folders)).toEqual(['cycle of folders: test-e2e test-e2e/deep']);
});

test('lint fails on a handler in the model', () => {
  expect(faultsOf({ 'model/a.ts': 'export const handlers = [handleWrite(operations.a, async () => ({}))];' })).toEqual([
    'services/users/src: model/a.ts handles an operation in model/',
  ]);
});
