import { operations, roles } from '@natter/contracts';
import { expect, test } from 'vitest';
import { whyForbidden } from './permitted.ts';

const accounts = ['owner', 'administrator', 'moderator', 'member', 'guest'] as const;

test('a success of an operation with a minimum role is reported for exactly the lower roles', () => {
  expect(operations.filter(({ role }) => role !== undefined).length).toBeGreaterThan(40);
  for (const operation of operations) {
    if (operation.caller === 'internal' || operation.caller === 'operator') continue;
    const lowest = roles[operation.role ?? 'guest'];
    const reported = accounts.filter((role) => whyForbidden(operation, role) !== undefined);
    expect([operation.name, reported]).toEqual([operation.name, accounts.filter((role) => roles[role] > lowest)]);
  }
});
