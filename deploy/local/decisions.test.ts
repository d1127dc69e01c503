import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../docs/adr/', import.meta.url);

test('every decision states its date, its status and its alternatives', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  expect(names.length).toBeGreaterThan(25);
  for (const name of names) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    expect(text, name).toMatch(/^# \d+\. .+\n\nDate: \d{4}-\d\d-\d\d\. Status: \w+/);
    expect(text, name).toMatch(/^(?:\*\*Alternatives\.\*\* |## Alternatives\n)/m);
  }
});
