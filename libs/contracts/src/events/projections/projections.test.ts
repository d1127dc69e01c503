import { expect, test } from 'vitest';
import { durableConsumers } from '../durable-consumers.ts';
import { projections } from './index.ts';

test('the consumer that maintains a copy reads all events that the copy is built from', () => {
  for (const { service, table, consumer, events } of projections) {
    const declared = durableConsumers.find((one) => one.service === service && one.name === consumer);
    expect(declared?.events, `${consumer} of ${service}, for ${table}`).toEqual(expect.arrayContaining([...events]));
  }
});

test('a copy is a table of the service that keeps it, and declared once', () => {
  for (const { service, table } of projections) expect(table).toMatch(new RegExp(`^${service}\\.`));
  expect(new Set(projections.map(({ table }) => table)).size).toBe(projections.length);
});
