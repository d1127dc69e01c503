import { defineConfig } from 'vitest/config';
import TestOrder from './deploy/local/test-order.ts';

// Files share what their process has loaded: no module keeps state of a test.
const common = {
  // On a busy machine a system may take minutes to start, and a request some seconds. Tests set no shorter limits.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000 } },
  isolate: false,
  setupFiles: ['deploy/local/seeded-properties.ts'],
  // Systems of tests compare every event with its declaration.
  env: { NATTER_EVENT_CHECK_RATIO: '1' },
};

export default defineConfig({
  test: {
    // Tests mostly wait: for responses, for expiry, for a scheduled minute. Two workers leave half of two cores idle.
    maxWorkers: 3,
    sequence: { sequencer: TestOrder },
    projects: [
      {
        test: {
          name: 'parts',
          include: [
            'libs/*/src/**/*.test.ts',
            'services/*/src/**/*.test.ts',
            'deploy/**/*.test.ts',
            'test-e2e/simulation/**/*.test.ts',
            'test-e2e/fuzz/**/*.test.ts',
            'test-e2e/chaos/**/*.test.ts',
            'test-e2e/newcomer/**/*.test.ts',
          ],
          ...common,
        },
      },
      {
        // One running system for all files, a realm for each.
        test: {
          name: 'behaviour',
          include: ['test-e2e/tests/**/*.test.ts'],
          globalSetup: ['libs/testkit/src/bundled-programs.ts', 'libs/testkit/src/shared-system.ts'],
          ...common,
          setupFiles: [...common.setupFiles, 'libs/testkit/src/few-repetitions.ts'],
        },
      },
      {
        // Each file starts a system of its own and may kill any part of it. The limits of requests are real time, so these
        // tests leave more of the machine idle than the others do. A different number of workers needs a group of its own.
        test: {
          name: 'systems',
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          include: ['test-e2e/systems/**/*.test.ts'],
          globalSetup: ['libs/testkit/src/bundled-programs.ts'],
          ...common,
          setupFiles: [...common.setupFiles, 'libs/testkit/src/no-faults.ts'],
        },
      },
    ],
  },
});
