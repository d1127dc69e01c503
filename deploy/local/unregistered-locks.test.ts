import { expect, test } from 'vitest';
import { allUnregisteredLocks, unregisteredLocks } from './unregistered-locks.ts';

test('the code and the migrations take only locks that are registered', () => {
  expect(allUnregisteredLocks()).toEqual([]);
});

test('lint fails on a lock that is not registered', () => {
  const call = 'pg_advisory_xact_lock(7301, 5)';
  expect(unregisteredLocks('services/users/src/linkifiers/linkifiers.ts', `sql.unsafe\`SELECT ${call}\``)).toEqual([
    'services/users/src/linkifiers/linkifiers.ts: pg_advisory_xact_lock(7301',
  ]);
  const migration = 'libs/database/migrations/999.sql';
  expect(unregisteredLocks(migration, 'PERFORM pg_try_advisory_xact_lock(7999, 1);')).toEqual([`${migration}: 7999`]);
  expect(unregisteredLocks(migration, 'PERFORM pg_advisory_xact_lock(7104);')).toEqual([]);
});
