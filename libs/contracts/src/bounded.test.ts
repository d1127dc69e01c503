import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { anyJson, boundOf, list, number, object, record, string, union } from './model/bounded.ts';
import { maxBodyBytes, operation } from './model/operation.ts';
import { json, maxUnits, text, textOrJson } from './model/param.ts';
import { operations } from './operations/index.ts';

describe('a parameter without a bound', () => {
  test('does not compile, and fails to load if the type is bypassed', () => {
    // @ts-expect-error text needs a number of characters
    expect(() => text(z.string())).toThrow('no bound');
    // @ts-expect-error also where it may be absent
    expect(() => text(z.string().optional())).toThrow('no bound');
    // @ts-expect-error lists need a number of items
    expect(() => json(z.array(z.string()))).toThrow('no bound');
    // @ts-expect-error also where their items are bounded
    expect(() => json(z.array(string(3)).default([]))).toThrow('no bound');
    // @ts-expect-error objects are built of bounded properties
    expect(() => json(z.object({ name: z.string() }))).toThrow('no bound');
    // @ts-expect-error also inside of a builder
    expect(() => json(object({ name: z.string() }))).toThrow('no bound');
    // @ts-expect-error also in a list
    expect(() => json(list(z.string(), 3))).toThrow('no bound');
    // @ts-expect-error records need a number of keys
    expect(() => json(z.record(string(3), string(3)))).toThrow('no bound');
    // @ts-expect-error also in a union
    expect(() => textOrJson(union([string(3), z.string()]))).toThrow('no bound');
    // @ts-expect-error anything needs a size and a depth
    expect(() => json(z.unknown())).toThrow('no bound');
    // @ts-expect-error
    expect(() => json(z.any().optional())).toThrow('no bound');
    // @ts-expect-error a transformation does not bound what it is given
    expect(() => text(z.string().transform(Number))).toThrow('no bound');
  });
});

describe('the bound of a value', () => {
  test('covers its longest text with every character escaped', () => {
    const param = json(list(object({ name: string(5), size: number(0, 9).optional() }), 3));
    const longest = JSON.stringify(Array.from({ length: 3 }, () => ({ name: '😀'.repeat(5), size: 9 }))).replace(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
    );
    expect(param.bound.json).toBeGreaterThanOrEqual(longest.length);
    expect(param.bound.form).toBeGreaterThanOrEqual(encodeURIComponent(longest).length);
    expect(param.bound.depth).toBe(2);
  });

  test('counts lists, objects and commas', () => {
    const param = json(list(object({ name: string(5), ids: list(number(0, 9), 4) }), 3));
    const largest = JSON.stringify(Array.from({ length: 3 }, () => ({ name: ',,{[', ids: [1, 2, 3, 4] })));
    const parts = largest.replace(/"[^"]*"/g, '').match(/[,{[]/g)?.length;
    expect(param.bound.parts).toBeGreaterThanOrEqual(parts ?? 0);
    expect(param.bound.parts).toBeLessThan(100);
    expect(json(list(list(string(1), 10_000), 10_000)).bound.parts).toBe(100_000);
  });

  test('counts characters, not UTF-16 units', () => {
    expect(string(2).safeParse('😀😀').success).toBe(true);
    expect(string(2).safeParse('abc').success).toBe(false);
    expect(maxUnits(text(string(2)))).toBeGreaterThanOrEqual(4);
  });

  test('counts keys of records, whatever they are called', () => {
    const schema = record(string(3), { keys: 2, keyCharacters: 12 });
    expect(schema.safeParse(JSON.parse('{"constructor":"a","toString":"b"}')).success).toBe(true);
    expect(schema.safeParse(JSON.parse('{"a":"a","b":"b","toString":"c"}')).success).toBe(false);
    expect(schema.safeParse({ thirteen_keys: 'a' }).success).toBe(false);
    expect(schema.parse(JSON.parse('{"__proto__":"a"}'))).toEqual({});
    expect(Object.getPrototypeOf(schema.parse(JSON.parse('{"__proto__":"a"}')))).toBe(Object.prototype);
  });

  test('can be given explicitly for any JSON', () => {
    expect(boundOf(anyJson({ characters: 100, depth: 4, parts: 9 }))).toMatchObject({ json: 100, depth: 4, parts: 9 });
  });
});

test('a request body has room for every parameter, and no operation takes more than 64 MiB besides a file', () => {
  const one = operation({ name: 'x', service: 'users', summary: '', params: { a: text(string(1_000)) } });
  expect(maxBodyBytes(one)).toBeGreaterThan(encodeURIComponent('€'.repeat(1_000)).length);
  for (const each of operations) expect(maxBodyBytes(each), each.name).toBeLessThan(64 * 1024 * 1024);
});
