import { operations as contract, exampleOf, vocabularies } from '@natter/contracts';
import { expect, test } from 'vitest';
import { asyncApi } from './async-api.ts';
import { openApi } from './open-api.ts';

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  content?: Record<string, { schema: Schema }>;
  schema?: Schema;
  [keyword: string]: unknown;
}
/** A field or a parameter, and its location. */
interface Field {
  name: string;
  at: string;
  description: string | undefined;
}

const document = openApi() as {
  paths: Record<string, Record<string, { operationId: string; summary: string } & Schema>>;
  components: { schemas: Record<string, Schema> };
};
const { schemas } = document.components;

/** Every field of a schema, at every depth. */
function fieldsOf(schema: Schema | undefined, at: string): Field[] {
  if (typeof schema !== 'object') return [];
  if (schema.$ref !== undefined) return fieldsOf(schemas[schema.$ref.split('/').at(-1) ?? ''], at);
  const inner = ['items', 'additionalProperties'].map((keyword) => schema[keyword] as Schema | undefined);
  const forms = ['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((keyword) => (schema[keyword] ?? []) as Schema[]);
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
      { name, at: `${at}.${name}`, description: field.description },
      ...fieldsOf(field, `${at}.${name}`),
    ]),
    ...[...inner, ...forms].flatMap((one) => fieldsOf(one, at)),
  ];
}

const schemasIn = (content: Schema['content']): Schema[] => Object.values(content ?? {}).map(({ schema }) => schema);

const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
const parameters = operations.flatMap(({ operationId, parameters }) =>
  (parameters as (Schema & { name: string })[])
    .filter(({ $ref }) => $ref === undefined)
    .flatMap(({ name, description, schema, content }) => [
      { name, at: `${operationId}: ${name}`, description },
      ...[schema, ...schemasIn(content)].flatMap((one) => fieldsOf(one, `${operationId}: ${name}`)),
    ]),
);
const bodies = operations.flatMap(({ operationId, requestBody }) =>
  schemasIn((requestBody as Schema | undefined)?.content).flatMap((schema) => fieldsOf(schema, operationId)),
);
const answers = operations.flatMap(({ operationId, responses }) =>
  Object.entries(responses as Record<string, Schema>).flatMap(([status, { content }]) =>
    schemasIn(content).flatMap((schema) => fieldsOf(schema, `${operationId} ${status}`)),
  ),
);
const { messages } = asyncApi().components as {
  messages: Record<string, { name: string; summary: string; payload: Schema }>;
};
const events = Object.values(messages).flatMap(({ name, payload }) => fieldsOf(payload, name));

/** One or more sentences: a capital or code at the beginning, a full stop at the end. */
const isSentence = (text: string | undefined): boolean => text !== undefined && /^[A-Z`].*\.$/s.test(text);
const undescribed = (fields: Field[]): string[] =>
  fields.filter(({ description }) => !isSentence(description)).map(({ at, description }) => `${at}: ${description}`);

test('every operation and every event is described', () => {
  expect(operations.length).toBeGreaterThan(180);
  expect(Object.keys(messages).length).toBeGreaterThan(60);
  for (const { operationId, summary } of operations) expect(summary, operationId).toMatch(/^[A-Z]/);
  for (const { name, summary } of Object.values(messages)) expect([name, isSentence(summary)]).toEqual([name, true]);
});

test('every parameter is described', () => {
  expect(parameters.length + bodies.length).toBeGreaterThan(800);
  expect(undescribed([...parameters, ...bodies])).toEqual([]);
});

test('every response field is described', () => {
  expect(answers.length).toBeGreaterThan(800);
  expect(undescribed(answers)).toEqual([]);
});

test('every field of an event is described', () => {
  expect(events.length).toBeGreaterThan(800);
  expect(undescribed(events)).toEqual([]);
});

test('a name has one meaning, and every meaning belongs to a field', () => {
  const names = vocabularies.flatMap(Object.keys);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  const used = new Set([...parameters, ...bodies, ...answers, ...events].map(({ name }) => name));
  expect(names.filter((name) => !used.has(name))).toEqual([]);
});

test('every operation has an example request with all required parameters', () => {
  for (const operation of contract) {
    const { name, http, page, params, isAlias } = operation;
    const route = http ?? page;
    if (!route || isAlias) continue;
    const example = exampleOf(operation);
    const needed = Object.entries(params).filter(
      ([key, { required, encoding }]) =>
        encoding !== 'file' && encoding !== 'body' && key !== 'file' && (required || route.path.includes(`{${key}}`)),
    );
    for (const [key] of needed) expect([name, key, example[key]]).not.toContain(undefined);
    for (const [key, value] of Object.entries(example)) {
      const parsed = params[key]?.schema.safeParse(value);
      expect([name, key, parsed?.success]).toEqual([name, key, true]);
    }
  }
});
