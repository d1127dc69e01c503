import { type Operation, operationsByName } from '@natter/contracts';
import { expect, test } from 'vitest';
import { encodeRequest } from './encode.ts';

const operations: Operation[] = Object.values(operationsByName);

/** A request with a single parameter outside of the path. */
const encoded = (operation: Operation, name: string, value: unknown): string => {
  const inPath = [...(operation.http?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, key = '']) => [key, '1']);
  const { path, body } = encodeRequest(operation, { ...Object.fromEntries(inPath), [name]: value });
  return new URLSearchParams(typeof body === 'string' ? body : path.split('?')[1]).get(name) ?? '';
};

/** Decodes a parameter like the server: as JSON if possible, otherwise as text. */
const decoded = (raw: string): unknown => {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
};

const textsOrJson = operations
  .filter(({ http }) => http)
  .flatMap((operation) => Object.entries(operation.params).map(([name, param]) => ({ operation, name, param })))
  .filter(({ param }) => param.encoding === 'textOrJson');

test('the server reads every text as that text where it accepts any text', () => {
  const free = textsOrJson.filter(({ param }) => param.takesText);
  expect(free.map(({ operation, name }) => `${operation.name} ${name}`)).toContain('send-message to');
  for (const { operation, name } of free)
    for (const text of ['2026', '-1.5', 'true', 'null', '"lunch"', '[1]', '{}', 'lunch', '#c6c6c6', ''])
      expect([operation.name, name, decoded(encoded(operation, name, text))]).toEqual([operation.name, name, text]);
});

test('the digits of a number stay a number where the server accepts no such text', () => {
  const others = textsOrJson.filter(({ param }) => !param.takesText);
  expect(others.map(({ operation, name }) => `${operation.name} ${name}`)).toContain(
    'update-channel message_retention_days',
  );
  for (const { operation, name } of others)
    expect([operation.name, name, decoded(encoded(operation, name, '30'))]).toEqual([operation.name, name, 30]);
});
