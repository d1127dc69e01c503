import type { LogEntry } from '@natter/contracts';
import { expect, test } from 'vitest';
import { afterCommit } from './after-commit.ts';

const appended = { realmId: 7, entries: [{ number: 1 } as LogEntry] };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test.each([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
])('a listener that %s does not fail the committed change, and its error is reported', async (_, listener) => {
  const reported: unknown[] = [];
  const onAppended = afterCommit(listener, (error, realmId) => reported.push([(error as Error).message, realmId]));
  expect(() => onAppended(appended)).not.toThrow();
  await turn();
  expect(reported).toEqual([['broken', 7]]);
});

test('a report that fails does not fail the change or end the process', async () => {
  const fail = (): never => {
    throw new Error('broken');
  };
  expect(() => afterCommit(fail, fail)(appended)).not.toThrow();
  await turn();
});

test('a change without events does not call a listener', () => {
  const calls: unknown[] = [];
  const report = (): void => undefined;
  afterCommit((one) => void calls.push(one), report)({ realmId: 7, entries: [] });
  afterCommit((one) => void calls.push(one), report)(appended);
  expect(calls).toEqual([appended]);
});
