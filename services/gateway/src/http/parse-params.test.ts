import { type Operation, operations } from '@natter/contracts';
import { expect, test } from 'vitest';
import { parseParams } from './parse-params.ts';

const bytes = 2 * 1024 * 1024 - 100;
const fill = (item: string): string => Array.from({ length: Math.floor(bytes / (item.length + 1)) }, () => item).join();
/** Each with far more values than any parameter may have. */
const crowded = [
  `[${fill('0')}]`,
  `[${fill('{}')}]`,
  `[${fill('[]')}]`,
  `{${fill('"a":[0]')}}`,
  `{${fill('"":{}')}}`,
  `[{"x":[${fill('""')}]}]`,
];

test('a parameter with far more values than its bound is not decoded', () => {
  const parse = JSON.parse;
  let decoded = 0;
  JSON.parse = (text: string) => {
    decoded = Math.max(decoded, text.length);
    return parse(text);
  };
  try {
    for (const operation of operations)
      for (const [name, param] of Object.entries(operation.params)) {
        if (param.encoding === 'file' || param.encoding === 'body' || param.encoding === 'text') continue;
        const alone: Operation = { ...operation, params: { [name]: param } };
        for (const raw of crowded) {
          const headers = param.header === undefined ? {} : { [param.header.toLowerCase()]: raw };
          expect(() => parseParams(alone, { [name]: raw }, {}, headers), operation.name).toThrow();
        }
      }
  } finally {
    JSON.parse = parse;
  }
  expect(decoded).toBe(0);
});

test('a list slightly above its limit is rejected with the limit, and commas in text do not count', () => {
  const addAlertWords = operations.find(({ name }) => name === 'add-alert-words');
  if (!addAlertWords) throw new Error('no such operation');
  const words = (count: number, text: string) => ({ alert_words: JSON.stringify(Array(count).fill(text)) });
  expect(() => parseParams(addAlertWords, words(1_101, 'a'), {})).toThrow('too many items (limit: 1100)');
  expect(parseParams(addAlertWords, words(1_000, ',,,[{'), {}).params.alert_words).toHaveLength(1_000);
});
