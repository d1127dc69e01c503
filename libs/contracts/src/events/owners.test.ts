import { expect, test } from 'vitest';
import { operations } from '../operations/index.ts';
import { eventTypes, ownsEvent } from './owners.ts';

test('an operation without a route declares its callers, and one with a route is called only by the gateway', () => {
  for (const { name, http, page, callers, caller } of operations) {
    if (http || page) expect(callers, name).toEqual(['gateway']);
    else expect(callers, name).not.toEqual([]);
    if (caller === 'operator') expect(callers, name).toEqual(['operator']);
    if (caller === 'internal' || caller === 'operator') expect(http ?? page, name).toBeUndefined();
    else expect(http ?? page, name).toBeDefined();
  }
});

test('an event that an operation emits is declared', () => {
  for (const { name, events } of operations)
    for (const type of events) expect([...eventTypes.keys()], `${name} emits ${type}`).toContain(type);
});

test('an event has one owner, and an undeclared event has none', () => {
  expect(ownsEvent('messaging', 'message')).toBe(true);
  for (const service of ['users', 'channels', 'presence', 'event-queue', 'gateway', 'every'])
    expect(ownsEvent(service, 'message')).toBe(false);
  expect(ownsEvent('messaging', 'constructor')).toBe(false);
  expect(ownsEvent('users', 'heartbeat')).toBe(false);
});
