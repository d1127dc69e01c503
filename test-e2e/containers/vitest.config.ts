import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test-e2e/containers/**/*.test.ts'],
    globalSetup: ['test-e2e/containers/setup.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 30_000,
  },
});
