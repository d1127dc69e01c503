import type { LogEvent } from '@natter/contracts';
import { expect, test } from 'vitest';
import { createEventTexts } from './event-texts.ts';

const eventOf = (content: string): LogEvent =>
  ({ type: 'tick', body: { content }, audience: { users: { ids: [] } } }) as unknown as LogEvent;

test('the texts of an event for any number of profiles take no more than their budget', () => {
  const texts = createEventTexts(1_000_000);
  const event = eventOf(`${'a'.repeat(100_000)}\u{1f600}`);
  let most = 0;
  let held = 0;
  for (let profile = 0; profile < 100; profile++) {
    const before = texts.bytes;
    const text = texts.once(event, String(profile), () => event.body) ?? '';
    // The text needs two bytes for each character.
    held = texts.bytes < before ? 2 * text.length : held + 2 * text.length;
    expect(texts.bytes).toBeGreaterThanOrEqual(held);
    most = Math.max(most, texts.bytes);
  }
  expect(most).toBeLessThanOrEqual(1_000_000);
  expect(most).toBeGreaterThan(500_000);
});

test('a text is written once while it fits into the cache, and again after it was dropped', () => {
  const texts = createEventTexts(10_000);
  const event = eventOf('short');
  let written = 0;
  const read = () =>
    texts.once(event, 'a', () => {
      written++;
      return event.body;
    });
  expect([read(), read(), written]).toEqual(['{"content":"short"', '{"content":"short"', 1]);
  const hidden = () =>
    texts.once(event, 'b', () => {
      written++;
      return undefined;
    });
  expect([hidden(), hidden(), written]).toEqual([undefined, undefined, 2]);
  for (let count = 0; count < 10; count++)
    texts.once(eventOf('x'.repeat(5_000)), 'a', () => ({ x: 'x'.repeat(5_000) }));
  expect([read(), written]).toEqual(['{"content":"short"', 3]);
});
