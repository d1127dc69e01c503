import { faults } from '@natter/local/child';
import { afterAll, expect } from 'vitest';

// Checks after every file with its own system that no process had an unhandled error or exited unexpectedly.
afterAll(() => {
  expect(faults.splice(0)).toEqual([]);
});
