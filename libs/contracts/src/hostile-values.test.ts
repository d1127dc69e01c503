import { expect, test } from 'vitest';
import type { z } from 'zod';
import { operations } from './operations/index.ts';

const hostile = [{ length: { toString: 1 } }, { size: { toString: 1 } }, { length: -1 }, { length: 1e9 }];

/** Values of a parameter that have a hostile value in one place, at any depth. */
function valuesFor(schema: z.core.$ZodType): unknown[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object')
    return [
      ...hostile,
      ...Object.entries(def.shape).flatMap(([key, inner]) => valuesFor(inner).map((value) => ({ [key]: value }))),
    ];
  if (def.type === 'array') return [...hostile, ...valuesFor(def.element).map((value) => [value])];
  if (def.type === 'tuple')
    return [...hostile, ...def.items.flatMap((item) => valuesFor(item).map((value) => [value, value, value]))];
  if (def.type === 'record') return [...hostile, ...valuesFor(def.valueType).map((value) => ({ key: value }))];
  if (def.type === 'union') return def.options.flatMap(valuesFor);
  if (def.type === 'pipe') return valuesFor(def.in);
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'default') return valuesFor(def.innerType);
  return hostile;
}

test('parameter schemas do not throw for any JSON value', () => {
  for (const { params } of operations)
    for (const { schema } of Object.values(params))
      for (const value of valuesFor(schema)) expect(() => schema.safeParse(value), JSON.stringify(value)).not.toThrow();
});
