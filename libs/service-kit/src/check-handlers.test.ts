import { type Operation, servedOperations } from '@natter/contracts';
import { expect, test } from 'vitest';
import { isWrite } from './answer-once.ts';
import { checkHandlers } from './check-handlers.ts';

const handlerOf = (operation: Operation) => ({ operation, ...(isWrite(operation) ? { isWrite: true as const } : {}) });
const ofPresence = servedOperations.filter(({ service }) => service === 'presence').map(handlerOf);
const [first, ...others] = ofPresence;

test('a service that handles each of its operations once starts', () => {
  expect(ofPresence.length).toBeGreaterThan(3);
  expect(() => checkHandlers('presence', ofPresence)).not.toThrow();
});

test('a service that handles another set of operations does not start, and names the differences', () => {
  expect(() => checkHandlers('presence', others)).toThrow(`not handled: ${first?.operation.name}`);
  const foreign = servedOperations.find(({ name }) => name === 'get-own-user') as Operation;
  expect(() => checkHandlers('presence', [...ofPresence, handlerOf(foreign)])).toThrow('not declared: get-own-user');
  expect(() => checkHandlers('presence', [...ofPresence, ...ofPresence.slice(0, 1)])).toThrow('handled twice');
});

test('a service that handles a write as a read does not start', () => {
  const asReads = ofPresence.map(({ operation }) => ({ operation }));
  expect(() => checkHandlers('presence', asReads)).toThrow('handled as a read, or the reverse: update-presence');
});
