import { expect, test } from 'vitest';
import { lock, lockFor, lockForEach } from './lock.ts';
import type { Work } from './work.ts';

/** A unit that records the statements it executes. */
function noting(realmId: number): { work: Work; taken: string[] } {
  const taken: string[] = [];
  const run: Work['run'] = async ({ sql, values }) => {
    taken.push(`${/advisory_\w+/.exec(sql)?.[0]} ${values.join(' ')}`);
    return 1;
  };
  return { work: { realmId, run } as Partial<Work> as Work, taken };
}

test('a unit must take its locks in the order of the registry, but may take one lock for several users', async () => {
  const { work, taken } = noting(5);
  await lock(work, 'directory', 'shared');
  await lock(work, 'channel-folders');
  await lockFor(work, 'flags', 11);
  await lockFor(work, 'flags', 12);
  expect(taken).toEqual([
    'advisory_xact_lock_shared 7201 5',
    'advisory_xact_lock 7202 5',
    'advisory_xact_lock 7305 11',
    'advisory_xact_lock 7305 12',
  ]);
  await expect(lock(work, 'directory')).rejects.toThrow('directory is taken after flags');
});

test('one statement locks several users, up to the number that PostgreSQL has room for', async () => {
  const { work, taken } = noting(5);
  await lockForEach(work, 'muted-topics', [12, 11]);
  expect(taken).toEqual(['advisory_xact_lock 7306 12,11']);
  await expect(lockFor(work, 'flags', 11)).rejects.toThrow('flags is taken after muted-topics');
  const many = Array.from({ length: 1_001 }, (_, index) => index);
  await expect(lockForEach(work, 'muted-topics', many)).rejects.toThrow('too many');
});

test('processes of the previous release, which lock only the former number, wait for a renumbered lock', async () => {
  const { work, taken } = noting(5);
  await lock(work, 'linkifiers');
  expect(taken).toEqual(['advisory_xact_lock_shared 7301 5', 'advisory_xact_lock 7311 5']);
});
