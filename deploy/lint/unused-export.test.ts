import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** The names that lint reports in a library with these files, with the rules for libraries of this repository. */
async function reported(files: Record<string, string>): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'natter-lint-'));
  try {
    const { include, workspaces } = JSON.parse(await readFile(join(root, 'knip.json'), 'utf8'));
    await mkdir(join(directory, 'src'));
    await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'fixture', type: 'module' }));
    await writeFile(join(directory, 'knip.json'), JSON.stringify({ include, ...workspaces['libs/*'] }));
    for (const [file, text] of Object.entries(files)) await writeFile(join(directory, 'src', file), text);
    const knip = join(root, 'node_modules', 'knip', 'bin', 'knip.js');
    const { stdout } = await run(process.execPath, [knip, '--no-config-hints', '--no-exit-code', '--reporter=json'], {
      cwd: directory,
    });
    const { issues } = JSON.parse(stdout) as { issues: Record<string, { name: string }[]>[] };
    return issues.flatMap(({ exports = [], types = [] }) => [...exports, ...types].map(({ name }) => name)).sort();
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('the linter reports unused exports, including those of the entry of a library, and no used ones', async () => {
  const lib = 'export const used = 1;\nexport const forgotten = 2;\nexport interface Forgotten { x: number }\n';
  const index = "import { used } from './lib.ts';\nexport const tested = used;\nexport const entry = used;\n";
  const tests = "import { tested } from './index.ts';\nconsole.log(tested);\n";
  const names = await reported({ 'lib.ts': lib, 'index.ts': index, 'index.test.ts': tests });
  expect(names).toEqual(['Forgotten', 'entry', 'forgotten']);
});
