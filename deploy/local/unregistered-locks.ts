import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lockNames, lockOf } from '@natter/contracts';

const root = fileURLToPath(new URL('../../', import.meta.url));
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

/** Those of all code and migrations, except tests. */
export function allUnregisteredLocks(): string[] {
  const paths = ['libs', 'services', 'deploy']
    .flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((path) => /\.(?:ts|sql)$/.test(path) && !/node_modules|\.test\.ts$/.test(path));
  if (!paths.includes(lockModule)) throw new Error(`${lockModule} is not where it was`);
  return paths.flatMap((path) => unregisteredLocks(path, readFileSync(root + path, 'utf8')));
}
