import type { LogEvent } from '@natter/contracts';
import { expect, test } from 'vitest';
import { createEventCheck } from './event-check.ts';
import type { Logger } from './logging.ts';
import { createMetrics } from './metrics.ts';

const right: LogEvent = { type: 'alert_words', body: { alert_words: [] }, audience: { users: { ids: [1] } } };
const wrong = { ...right, body: { alert_words: 'none' } } as unknown as LogEvent;

async function checked(ratio: number): Promise<{ lines: object[]; count: number | undefined }> {
  const metrics = createMetrics('test');
  const lines: object[] = [];
  const log = { error: (fields: object, message: string) => lines.push({ ...fields, message }) } as unknown as Logger;
  const check = createEventCheck(metrics, log, ratio);
  for (const event of [right, wrong]) check(event);
  for (const events of [['alert_words'], ['realm_user']]) check(right, { name: 'add-alert-words', events });
  check(
    { type: 'credentials_changed', body: { user_id: 1 }, audience: { users: { ids: [] } } },
    { name: 'none', events: [] },
  );
  const metric = await metrics.registry.getSingleMetric('natter_undeclared_events_total')?.get();
  return { lines, count: metric?.values[0]?.value };
}

test('an event that does not match its declaration, or that its operation does not list, fails tests by its log line', async () => {
  const { lines, count } = await checked(1);
  const message = 'undeclared event';
  expect(lines).toEqual([
    { problem: expect.stringMatching(/^alert_words: /), message },
    { problem: 'add-alert-words does not list alert_words', message },
  ]);
  expect(count).toBe(2);
});

test('events outside the sample are not checked', async () => {
  expect(await checked(0)).toEqual({ lines: [], count: 0 });
});
