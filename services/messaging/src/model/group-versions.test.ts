import type { Work } from '@natter/database';
import { expect, test } from 'vitest';
import { expectRoles } from './group-versions.ts';

/** The keys that a unit expects after a decision on the roles of so many users. */
async function expectedFor(count: number): Promise<string[]> {
  const expected: string[] = [];
  const work = {
    realmId: 1,
    any: async ({ values: [, keys] }: { values: [number, string[]] }) => keys.map((key) => ({ key, version: 1 })),
    expectVersions: (versions: object) => void expected.push(...Object.keys(versions)),
  } as unknown as Work;
  await expectRoles(
    work,
    Array.from({ length: count }, (_, index) => index),
  );
  return expected;
}

test('a unit compares the versions of few users, and one version for the roles of many', async () => {
  expect(await expectedFor(2)).toEqual(['actor:0', 'actor:1']);
  expect(await expectedFor(100)).toHaveLength(100);
  expect(await expectedFor(101)).toEqual(['group-contents']);
});
