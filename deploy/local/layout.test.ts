import { expect, test } from 'vitest';
import { layoutFaults } from './layout.ts';
import { readExported, readSources } from './source-files.ts';

const exported = new Map([
  ['@natter/database', 'libs/database/src/index.ts'],
  ['@natter/helm', 'deploy/helm/render.ts'],
  ['@natter/local', 'deploy/local/servers.ts'],
  ['@natter/service-kit', 'libs/service-kit/src/index.ts'],
  ['@natter/users', 'services/users/src/service.ts'],
  ['@natter/web/state', 'services/web/src/state/state.ts'],
]);

/** The faults of a tree with these files. */
const faultsOfTree = (files: Record<string, string>): string[] =>
  layoutFaults(new Map(Object.entries(files)), exported);

/** The faults of a service with these files, with paths below its `src/`. */
const faultsOf = (files: Record<string, string>, service = 'users'): string[] => {
  const source = `services/${service}/src/`;
  const placed = Object.entries(files).map(([file, text]) => [source + file, text]);
  return faultsOfTree(Object.fromEntries(placed)).map((fault) => fault.replaceAll(source, ''));
};

const importOf = (path: string) => `import { x } from '${path}';\n`;

test('all sources keep the rules of the layout', () => {
  const sources = readSources();
  expect(sources.size).toBeGreaterThan(900);
  expect(layoutFaults(sources, readExported())).toEqual([]);
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
      'bots/bots.ts imports users/users.ts of another feature',
    ]);
});

test('layers of the gateway may import each other, but not in a cycle', () => {
  const files = { 'routes/route.ts': importOf('../http/host.ts'), 'http/host.ts': '' };
  expect(faultsOf(files, 'gateway')).toEqual([]);
  const back = { ...files, 'http/port.ts': importOf('../routes/router.ts'), 'routes/router.ts': '' };
  expect(faultsOf(back, 'gateway')).toEqual(['cycle of folders: http routes']);
});

test('lint fails on an import of a file from a higher layer', () => {
  expect(faultsOf({ 'model/a.ts': importOf('../bots/bots.ts'), 'bots/bots.ts': '' })).toEqual([
    'model/a.ts imports bots/bots.ts, which lies above it',
  ]);
  expect(faultsOf({ 'bots/bots.ts': importOf('../service.ts'), 'service.ts': '' })).toEqual([
    'bots/bots.ts imports service.ts, which lies above it',
  ]);
});

test('lint fails on a cycle of files, including type imports, and on a cycle of folders', () => {
  const types = {
    'bots/a.ts': `import type { X } from './b.ts';\n`,
    'bots/b.ts': importOf('./c.ts'),
    'bots/c.ts': importOf('./a.ts'),
  };
  expect(faultsOf(types)).toEqual(['cycle of files: bots/a.ts bots/b.ts bots/c.ts']);
  const folders = {
    'model/a.ts': importOf('./mail/b.ts'),
    'model/mail/b.ts': '',
    'model/mail/c.ts': importOf('../d.ts'),
    'model/d.ts': '',
  };
  expect(faultsOf(folders)).toEqual(['cycle of folders: model model/mail']);
});

test('lint fails on a cycle of files, and on a cycle of folders, outside the services', () => {
  const files = { 'libs/x/src/a.ts': importOf('./b.ts'), 'libs/x/src/b.ts': `import type { X } from './a.ts';\n` };
  expect(faultsOfTree(files)).toEqual(['cycle of files: libs/x/src/a.ts libs/x/src/b.ts']);
  const folders = {
    'test-e2e/c.ts': importOf('./deep/d.ts'),
    'test-e2e/deep/d.ts': '',
    'test-e2e/deep/e.ts': importOf('../f.ts'),
    'test-e2e/f.ts': '',
  };
  expect(faultsOfTree(folders)).toEqual(['cycle of folders: test-e2e test-e2e/deep']);
});

test('lint fails on a cycle of packages that import each other by name', () => {
  const folders = {
    'libs/database/src/index.ts': importOf('@natter/service-kit'),
    'libs/service-kit/src/bus.ts': importOf('@natter/database'),
  };
  expect(faultsOfTree(folders)).toEqual([
    'cycle of folders: libs/database/src libs/service-kit/src',
    'cycle of packages: libs/database libs/service-kit',
  ]);
  const files = {
    'libs/database/src/index.ts': importOf('@natter/service-kit'),
    'libs/service-kit/src/index.ts': importOf('@natter/database'),
  };
  expect(faultsOfTree(files)).toContain('cycle of files: libs/database/src/index.ts libs/service-kit/src/index.ts');
  const apart = {
    'deploy/helm/render.ts': importOf('@natter/local'),
    'deploy/local/tools/draw.ts': importOf('../../helm/values.ts'),
  };
  expect(faultsOfTree(apart)).toEqual(['cycle of packages: deploy/helm deploy/local']);
});

test('lint fails on an import of another service, in any file of any service', () => {
  for (const service of ['channels', 'gateway', 'web'])
    for (const [file, name] of [
      ['service.ts', '@natter/users'],
      ['main.ts', '../../users/src/users/users.ts'],
      ['http/host.ts', '@natter/users'],
      ['http/host.test.ts', '../../../users/src/users/users.ts'],
    ] as const)
      expect(faultsOf({ [file]: importOf(name) }, service)).toEqual([`${file} imports ${name} of another service`]);
  expect(faultsOf({ 'service.ts': importOf('@natter/web/state') }, 'gateway')).toHaveLength(1);
});

test('lint fails on an import of a service in a lib, whatever its form', () => {
  for (const name of ['@natter/users', '@natter/web/state', '../../../services/users/src/model/row.ts']) {
    expect(faultsOfTree({ 'libs/testkit/src/a.ts': importOf(name) })).toEqual([
      `libs/testkit/src/a.ts imports ${name} of a service`,
    ]);
    expect(faultsOfTree({ 'libs/testkit/src/a.ts': `await import('${name}');\n` })).toHaveLength(1);
  }
});

test('lint fails on an import by path of a file of a lib or tool in another package', () => {
  for (const name of ['../../../libs/database/src/index.ts', '../../../deploy/local/port.ts'])
    for (const file of ['services/web/src/main.tsx', 'services/users/build/a.ts', 'libs/service-kit/src/a.ts'])
      expect(faultsOfTree({ [file]: importOf(name) })).toEqual([
        `${file} imports ${name} of another package by its path`,
      ]);
});

test('services and libs import libs by name; tools and tests import any package', () => {
  expect(
    faultsOfTree({
      'services/users/src/service.ts': importOf('@natter/database'),
      'libs/service-kit/src/a.ts': importOf('@natter/database'),
      'deploy/local/start.ts': importOf('@natter/web/state'),
      'deploy/helm/memory.test.ts': importOf('../../services/gateway/src/http/config.ts'),
      'test-e2e/tests/a.test.ts': importOf('../../services/users/src/model/row.ts'),
    }),
  ).toEqual([]);
});

test('lint fails on a handler in the model', () => {
  expect(faultsOf({ 'model/a.ts': 'export const handlers = [handleWrite(operations.a, async () => ({}))];' })).toEqual([
    'model/a.ts handles an operation in model/',
  ]);
});
