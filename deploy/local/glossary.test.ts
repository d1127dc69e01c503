import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync(new URL('../../docs/glossary.md', import.meta.url), 'utf8');

test('the glossary has at most 60 terms, so that a newcomer can read it at once', () => {
  const [, , ...rows] = page.split('\n').filter((line) => line.startsWith('|'));
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.length).toBeLessThanOrEqual(60);
});
