import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that mostly wait for real time. They start first, so that no worker waits for one of them at the end. */
export const waitingFiles = [
  'test-e2e/tests/event-queue/heartbeat.test.ts',
  'test-e2e/tests/event-queue/model.test.ts',
  'test-e2e/systems/schedulers.test.ts',
  'test-e2e/systems/rolling-restart.test.ts',
  'test-e2e/systems/lost-calls.test.ts',
  'test-e2e/systems/moved-clocks.test.ts',
  'test-e2e/systems/moved-clocks-ephemeral.test.ts',
  'test-e2e/systems/queue-model.test.ts',
  'test-e2e/systems/races.test.ts',
  'test-e2e/systems/other-settings.test.ts',
  'test-e2e/systems/retention.test.ts',
  'test-e2e/systems/silent-connections.test.ts',
  'test-e2e/systems/queue-bounds.test.ts',
  'test-e2e/systems/link-previews.test.ts',
  'test-e2e/systems/deadlines.test.ts',
  'test-e2e/systems/hung-processes.test.ts',
  'test-e2e/systems/without-redis.test.ts',
];

/**
 * The order of test files within a project: first those that wait, then large before small ones. Files with a browser need
 * most CPU, so they are spread evenly over the run instead of running side by side.
 */
export default class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...new Set(sorted.map(({ project }) => project.name))].flatMap((name) => {
      const ofProject = sorted.filter(({ project }) => project.name === name);
      return spread(ofProject.filter(isOfBrowser), waitingFirst(ofProject.filter((file) => !isOfBrowser(file))));
    });
  }
}

const isOfBrowser = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/systems/web-client');

function waitingFirst(files: readonly TestSpecification[]): TestSpecification[] {
  const isWaiting = ({ moduleId }: TestSpecification): boolean => waitingFiles.some((name) => moduleId.endsWith(name));
  return [...files.filter(isWaiting), ...files.filter((file) => !isWaiting(file))];
}

/** Distributes the elements of both lists evenly; each list keeps its order. */
export function spread<T>(some: readonly T[], others: readonly T[]): T[] {
  const placed = [some, others].flatMap((list) =>
    list.map((one, index) => ({ one, place: (index + 0.5) / list.length })),
  );
  return placed.sort((a, b) => a.place - b.place).map(({ one }) => one);
}
