import type { Actor } from '@natter/contracts';
import {
  type Claim,
  type Commit,
  type UnitOfWork,
  type UnitOptions,
  VersionsChanged,
  type Work,
} from '@natter/database';
import { expect, test } from 'vitest';
import { writingOf } from './writes.ts';

const claim: Claim = { userId: 7, namedBy: 'key', key: 'key:once', fingerprint: 'print' };
const actor = { realmId: 3, userId: 7, basis: { 'actor:7': 4 } } as unknown as Actor;

/** Units that record how they were opened and which versions they expect. */
function noting() {
  const opened: UnitOptions[] = [];
  const expected: Record<string, number>[] = [];
  const work = { realmId: 3, expectVersions: (versions) => void expected.push(versions) } as Partial<Work> as Work;
  const unitOfWork: UnitOfWork = (options, handler) => {
    opened.push(options);
    return handler(work);
  };
  const committed: unknown[] = [];
  const commit = (async (_: number, decided: unknown) => committed.push(decided)) as unknown as Commit;
  return { opened, expected, committed, units: { schema: 'users', unitOfWork, commit } };
}

test('a write claims the key of its request and expects the versions of its actor', async () => {
  const { opened, expected, units } = noting();
  const { write } = writingOf(units, { realmId: 3, actor, claim });
  expect(await write(async () => 'answer')).toBe('answer');
  expect(opened).toEqual([{ realmId: 3, schema: 'users', claim, isQueued: false }]);
  expect(expected).toEqual([{ 'actor:7': 4 }]);
});

test('a unit that reads the actor again expects its new version, and a part of a long write does not claim the key', async () => {
  const { opened, expected, units } = noting();
  const { write } = writingOf(units, { realmId: 3, actor, claim });
  await write(async () => 1, { isQueued: true, expected: async () => ({ 'actor:7': 5 }) });
  await write(async () => 2, { isPart: true });
  expect(expected).toEqual([{ 'actor:7': 5 }, { 'actor:7': 4 }]);
  expect(opened.map((options) => [options.claim, options.isQueued])).toEqual([
    [claim, true],
    [undefined, false],
  ]);
});

test('a commit carries the key and the versions of realm and actor, and is decided again if they disagree', async () => {
  const { committed, units } = noting();
  const { commit } = writingOf(units, { realmId: 3, actor, claim });
  const decided = { events: [], numbered: () => [], answer: { named: 'id', rest: {} } };
  await commit({ ...decided, expected: { realm: 2 } });
  expect(committed).toEqual([{ ...decided, expected: { realm: 2, 'actor:7': 4 }, claim }]);
  await expect(commit({ ...decided, expected: { 'actor:7': 3 } })).rejects.toThrow(VersionsChanged);
});
