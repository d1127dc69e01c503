import type { Operation } from '@natter/contracts';
import { roleNames, withKey } from './world.ts';

/** Counts operations, roles and answers. */
export interface Coverage {
  /** `isAltered`: the request was mutated, so its success may be that of another operation. */
  count(operation: string, role: string, code: string, isAltered?: boolean): void;
  event(type: string): void;
  succeeded(operation: string): boolean;
  print(operations: readonly Operation[]): void;
}

export function createCoverage(): Coverage {
  const requests = new Map<string, Map<string, number>>();
  const codes = new Map<string, Map<string, number>>();
  const events = new Map<string, number>();
  const successes = new Set<string>();
  const raise = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);
  const within = (counts: Map<string, Map<string, number>>, key: string): Map<string, number> => {
    const found = counts.get(key) ?? new Map<string, number>();
    counts.set(key, found);
    return found;
  };
  const succeeded = (name: string): boolean => successes.has(name);
  return {
    count(operation, role, code, isAltered = false) {
      if (!isAltered && /^[23]\d\d$/.test(code)) successes.add(operation);
      raise(within(requests, operation), role);
      raise(within(codes, operation), code);
    },
    succeeded,
    event: (type) => raise(events, type),
    print(operations) {
      const short = roleNames.map((role) => role.slice(0, 7).padStart(8)).join('');
      console.log(`\nRequests by operation and role\n${'operation'.padEnd(34)}${short}`);
      for (const { name } of operations) {
        const row = requests.get(name);
        console.log(`${name.padEnd(34)}${roleNames.map((role) => String(row?.get(role) ?? 0).padStart(8)).join('')}`);
      }
      console.log('\nAnswers by operation');
      for (const { name } of operations) {
        const seen = [...(codes.get(name) ?? [])].sort((a, b) => b[1] - a[1]);
        console.log(`${name.padEnd(34)}${seen.map(([code, count]) => `${code} ${count}`).join(', ')}`);
      }
      const total = new Map<string, number>();
      for (const [code, count] of [...codes.values()].flatMap((row) => [...row]))
        total.set(code, (total.get(code) ?? 0) + count);
      console.log(`\nAnswers in all: ${listed(total)}`);
      console.log(`Events seen in queues: ${listed(events)}`);
      const never = operations.filter(({ name }) => !succeeded(name)).map(({ name }) => name);
      console.log(`Operations that never succeeded: ${never.join(', ') || 'none'}`);
      const pairs = operations.flatMap(({ name }) => roleNames.map((role) => requests.get(name)?.get(role) ?? 0));
      console.log(
        `${operations.length} operations × ${roleNames.length} roles (${roleNames.filter(withKey).length} with a key): ` +
          `${pairs.filter((count) => count > 0).length} of ${pairs.length} pairs asked, at least ${Math.min(...pairs)} times each`,
      );
    },
  };
}

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([key, count]) => `${key} ${count}`)
    .join(', ') || 'none';
