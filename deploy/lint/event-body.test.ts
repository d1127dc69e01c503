import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));
const plugin = fileURLToPath(new URL('event-body.grit', import.meta.url));

/** The lines of a text on which the linter reports a cast. */
function reportedLines(text: string): number[] {
  const directory = mkdtempSync(join(tmpdir(), 'natter-lint-'));
  try {
    writeFileSync(
      join(directory, 'biome.json'),
      JSON.stringify({ plugins: [plugin], linter: { rules: { preset: 'none' } } }),
    );
    writeFileSync(join(directory, 'fixture.ts'), text);
    const { stdout } = spawnSync(biome, ['lint', '--reporter=json', 'fixture.ts'], {
      cwd: directory,
      encoding: 'utf8',
    });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { location: { start: { line: number } } }[] };
    return diagnostics.map(({ location }) => location.start.line);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('the linter reports casts of the body and of the note of an event, and no others', () => {
  const lines = [
    'export const a = (event: any) => event.body.x as number;',
    'export const b = (body: any) => String(body.x);',
    'export const c = (entry: any) => Number(entry.event.body.x);',
    'export const d = (note: any) => (note?.ids ?? []) as number[];',
    'export const e = (event: any) => event.note as object;',
    'export const f = (row: any) => row.settings as object;',
    'export const g = (request: any) => request.body as string;',
    'export const h = (text: string) => Number(text);',
  ];
  expect(reportedLines(lines.join('\n')).sort()).toEqual([1, 2, 3, 4, 5]);
});
