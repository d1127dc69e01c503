import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '@natter/contracts';
import { expect, test } from 'vitest';
import type { z } from 'zod';

const table = readFileSync(join(import.meta.dirname, '../../../../docs/security/answer-sizes.md'), 'utf8');
const rows = table.split('\n').filter((line) => /^\| `/.test(line));

// biome-ignore lint/suspicious/noExplicitAny: the definitions of zod differ by type.
const definitionOf = (schema: z.ZodType): any => schema._zod.def;

/** The paths of the outermost lists and records of a result. */
function listsIn(schema: z.ZodType, path = ''): string[] {
  const { type, shape = {}, options = [], innerType, in: input } = definitionOf(schema);
  if (type === 'array') return [`${path}[]`];
  if (type === 'record') return [`${path}{}`];
  if (type === 'object')
    return Object.entries<z.ZodType>(shape).flatMap(([name, field]) =>
      listsIn(field, path === '' ? name : `${path}.${name}`),
    );
  if (type === 'union') return options.flatMap((option: z.ZodType) => listsIn(option, path));
  const inner = innerType ?? input;
  return inner ? listsIn(inner, path) : [];
}

/** Values of permissions: their text is limited in all. */
const isPermission = (path: string): boolean => /\.direct_(?:members|subgroups)\[\]$/.test(path);

const inContract = operations.flatMap(({ name, result }) =>
  [...new Set(listsIn(result))].filter((path) => !isPermission(path)).map((path) => `${name} ${path}`),
);

test('every list in a response of the contract has a bound in the table', () => {
  const inTable = rows.flatMap((row) => {
    const named = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const cells = row.split('|').map((cell) => cell.trim());
    const [operation = ''] = named(cells[1] ?? '');
    const isOfRegister = /[\]}]$/.test(operation);
    const paths = named((isOfRegister ? cells[1] : cells[2]) ?? '');
    return paths.map((path) => `${isOfRegister ? 'register' : operation} ${path}`);
  });
  expect(inTable.toSorted()).toEqual(inContract.toSorted());
});

test('every bound of the table has a size', () => {
  for (const row of rows) expect(row).toMatch(/\d+(?:\.\d)? ?(?:KB|MB|MiB)[^|]*\|$/);
});
