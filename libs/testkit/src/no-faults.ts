import { faults } from '@natter/local/child';
import { afterAll, expect } from 'vitest';

// After every file that starts a system of its own: no process met an error that no code handled, or ended by itself.
afterAll(() => {
  expect(faults.splice(0)).toEqual([]);
});
