import { lockNames, lockOf } from '@natter/contracts';
import { readSources } from './source-files.ts';

const registered = new Set(lockNames.map((name) => String(lockOf(name).number)));
/** The only module that uses the lock functions of Postgres. */
const lockModule = 'libs/database/src/lock.ts';
const functions = /pg_(?:try_)?advisory(?:_xact)?_(?:un)?lock(?:_shared)?\(\s*([^,)]*)/g;

/**
 * Advisory locks of a file that the contract does not list: in code all outside the lock module, in migrations those
 * with another number.
 */
export function unregisteredLocks(path: string, text: string): string[] {
  const calls = [...text.matchAll(functions)];
  if (!path.endsWith('.sql')) return path === lockModule ? [] : calls.map(([call]) => `${path}: ${call}`);
  const numbers = calls.map(([, first = '']) => first.trim());
  // The caller of `log.pass_gate` passes the number.
  return numbers
    .filter((number) => number !== 'p_gate' && !registered.has(number))
    .map((number) => `${path}: ${number}`);
}

/** The unregistered locks in all code and migrations, except tests. */
export function allUnregisteredLocks(): string[] {
  const sources = [...readSources(/\.(?:ts|sql)$/)].filter(
    ([path]) => !path.startsWith('test-e2e/') && !path.endsWith('.test.ts'),
  );
  if (!sources.some(([path]) => path === lockModule)) throw new Error(`${lockModule} is not where it was`);
  return sources.flatMap(([path, text]) => unregisteredLocks(path, text));
}
