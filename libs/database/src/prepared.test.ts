import { describe, expect, test, vi } from 'vitest';

/** The state is module-wide, so each test loads its own module. */
async function fresh() {
  vi.resetModules();
  return import('./prepared.ts');
}
const failure = (code: string, message = ''): Error => Object.assign(new Error(message), { code });

describe('a statement', () => {
  test('is named from its fourth time on, and keeps its name when many others come', async () => {
    const { preparedName } = await fresh();
    const names = Array.from({ length: 4 }, () => preparedName('SELECT 1'));
    expect(names.slice(0, 3)).toEqual([undefined, undefined, undefined]);
    expect(names[3]).toMatch(/^natter_[0-9a-f]{24}$/);
    for (let index = 0; index < 12_000; index++) preparedName(`SELECT ${index} AS other`);
    expect(preparedName('SELECT 1')).toBe(names[3]);
  });

  test('is never named if its best plan depends on the values', async () => {
    const { preparedName } = await fresh();
    for (let time = 0; time < 10; time++) expect(preparedName('SELECT /* planned each time */ 1')).toBeUndefined();
  });

  test('is one of at most two hundred named ones', async () => {
    const { preparedName } = await fresh();
    const names = new Set<string | undefined>();
    for (let index = 0; index < 300; index++)
      for (let time = 0; time < 4; time++) names.add(preparedName(`SELECT ${index}`));
    names.delete(undefined);
    expect(names.size).toBe(200);
  });

  test('has another name after a migration changed its result type, and keeps that one', async () => {
    const { preparedName, isTransient } = await fresh();
    for (let time = 0; time < 5; time++) preparedName('SELECT 1');
    const before = preparedName('SELECT 1');
    const changed = failure('0A000', 'cached plan must not change result type');
    // Two connections that prepared it fail.
    expect([isTransient(changed), isTransient(changed)]).toEqual([true, true]);
    const after = preparedName('SELECT 1');
    expect(after).toMatch(/^natter_[0-9a-f]{24}_1$/);
    expect(after).not.toBe(before);
    expect(preparedName('SELECT 1')).toBe(after);
  });

  test.each([
    ['26000', ''],
    ['42P05', ''],
  ])('loses its name after %s', async (code, message) => {
    const { preparedName, isUnprepared, isTransient } = await fresh();
    for (let time = 0; time < 5; time++) preparedName('SELECT 1');
    expect(isTransient(failure('40P01'))).toBe(true);
    expect(isUnprepared(failure('23505'))).toBe(false);
    expect(preparedName('SELECT 1')).toBeDefined();
    expect(isUnprepared(failure(code, message))).toBe(true);
    expect(preparedName('SELECT 1')).toBeUndefined();
  });
});
