import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const table = readFileSync(join(root, 'docs/security/owasp-api-top-ten.md'), 'utf8');
const rows = table.split('\n').filter((line) => /^\| API\d+ /.test(line));

test('every risk of the OWASP API top ten has a test', () => {
  expect(rows.map((row) => /API(\d+)/.exec(row)?.[1])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  for (const row of rows) expect(row).toMatch(/`[\w/.-]+`: "/);
});

test('every test that the table names exists under its title', () => {
  const named = [...table.matchAll(/`([\w/.-]+\.ts)`: "([^"]+)"/g)];
  expect(named.length).toBeGreaterThan(20);
  for (const [, file = '', title = ''] of named) expect(readFileSync(join(root, file), 'utf8'), file).toContain(title);
});

test('every file that SECURITY.md names exists', () => {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
  const named = [...text.matchAll(/`((?:test-e2e|libs|services|deploy)\/[\w/.-]+)`/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(10);
  for (const file of named) expect(existsSync(join(root, file)), file).toBe(true);
});
