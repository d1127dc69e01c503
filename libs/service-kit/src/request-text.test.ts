import {
  channelOperations,
  collectionOperations,
  json,
  messagingOperations,
  type Operation,
  text,
} from '@natter/contracts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { claimOf, plainFingerprint } from './answer-once.ts';
import { requestText } from './request-text.ts';

const operationWith = (params: object): Operation => ({ name: 'add', params }) as Operation;
const bool = z.boolean();
const item = z.object({ name: z.string().max(10), color: z.enum(['red', 'green']).default('red') });
const items = z.array(item).max(3);

test('a parameter with a default that a release adds or moves does not change the text of a request', () => {
  const before = operationWith({ b: json(bool), a: text(z.enum(['x', 'y'])) });
  const after = operationWith({ notify: json(bool.default(true)), a: text(z.enum(['x', 'y'])), b: json(bool) });
  expect(requestText(after, { notify: true, a: 'x', b: false })).toBe(requestText(before, { b: false, a: 'x' }));
  expect(requestText(after, { notify: false, a: 'x', b: false })).not.toBe(requestText(before, { b: false, a: 'x' }));
});

test('a property with a default that a release adds to a list of objects does not change the text of a request', () => {
  const before = operationWith({ items: { ...json(bool), schema: z.array(item.omit({ color: true })) } });
  const after = operationWith({ items: { ...json(bool), schema: items } });
  const sent = requestText(before, { items: [{ name: 'a' }] });
  expect(requestText(after, { items: [{ color: 'red', name: 'a' }] })).toBe(sent);
  expect(requestText(after, { items: [{ color: 'green', name: 'a' }] })).not.toBe(sent);
});

test('the texts of requests stay the same from release to release', () => {
  const message = { topic: 'lunch', type: 'channel', to: [7], content: 'hello', read_by_sender: undefined };
  expect(requestText(messagingOperations.sendMessage, message)).toBe(
    'send-message {"content":"hello","to":[7],"topic":"lunch","type":"channel"}',
  );
  const subscription = {
    subscriptions: [{ name: 'general', description: '' }],
    announce: false,
  };
  expect(requestText(channelOperations.subscribe, subscription)).toBe(
    'subscribe {"subscriptions":[{"description":"","name":"general"}]}',
  );
});

test('a request is stored as the previous release does, and is recognized in both forms and with both secrets', () => {
  const operation = { ...operationWith({ b: json(bool), a: json(bool.default(true)) }), http: {} } as Operation;
  const envelope = { meta: { idempotencyKey: 'k' }, params: { b: false, a: true } };
  const both = (request: string) => [`new ${request}`, `old ${request}`] as const;
  const claim = claimOf(operation, envelope as never, undefined, both);
  expect([claim?.fingerprint, claim?.otherFingerprints?.()]).toEqual([
    'new add {"b":false,"a":true}',
    ['old add {"b":false,"a":true}', 'new add {"b":false}', 'old add {"b":false}'],
  ]);
  expect(plainFingerprint('add {"b":false}')).toEqual(['Q6luxukMGnh-KEgHQfHqt6ECypTvFDMKiPxazellG4w']);
});

test('a name that every object has is a name like any other', () => {
  expect(requestText(collectionOperations.updateBotStorage, { storage: { constructor: 'x' } })).toBe(
    'update-bot-storage {"storage":{"constructor":"x"}}',
  );
});
