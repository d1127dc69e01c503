import { join } from 'node:path';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import { expect, test } from 'vitest';
import ruleset from '../../spectral.mjs';
import { openApi } from './open-api.ts';

type Json = Record<string, unknown>;

const document = openApi();
const operations = Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

test('Redocly reports no problem in the API description', async () => {
  const config = await loadConfig({ configPath: join(import.meta.dirname, '../../redocly.yaml') });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
});

/** The findings of Spectral with the rules of this repository. */
async function spectralProblems(given: object): Promise<unknown[]> {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset(new spectralCore.Ruleset(ruleset as never));
  const problems = await spectral.run(given as Record<string, unknown>);
  return problems.map(({ code, message, path }) => [code, message, path.join('/')]);
}

test('Spectral reports no problem in the API description', async () => {
  expect(await spectralProblems(structuredClone(document))).toEqual([]);
});

test('the rules of this repository detect missing parts', async () => {
  const operation = {
    operationId: 'bad',
    summary: 'An operation (deprecated)',
    description: 'It breaks every rule.',
    tags: ['Bad'],
    parameters: [{ name: 'a', in: 'query', description: 'A text.', schema: { type: 'string' } }],
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { b: { type: 'string' } } } },
      },
    },
    responses: {
      200: { description: 'Success.', content: { 'application/json': { schema: { type: 'object' } } } },
      400: { description: 'Wrong.' },
    },
  };
  const { openapi, info, servers } = document;
  const tags = [{ name: 'Bad', description: 'Bad.' }];
  const found = await spectralProblems({ openapi, info, servers, tags, paths: { '/bad': { post: operation } } });
  expect(new Set(found.map((one) => (one as [string])[0]))).toEqual(new Set(Object.keys(ruleset.rules)));
});

test('a parameter has its default', () => {
  const subscribing = operations.find(({ operation }) => operation.operationId === 'subscribe')?.operation;
  const body = subscribing?.requestBody as { content: Record<string, { schema: { properties: Json } }> } | undefined;
  const [form] = Object.values(body?.content ?? {});
  const { announce, send_new_subscription_messages } = form?.schema.properties ?? {};
  expect([announce, send_new_subscription_messages]).toMatchObject([{ default: false }, { default: true }]);
});

test('a response lists all errors that share its status', () => {
  const editing = operations.find(({ operation }) => operation.operationId === 'update-message')?.operation;
  const response = (editing?.responses as Record<string, Json> | undefined)?.[400];
  for (const code of ['BAD_REQUEST', 'EXPECTATION_MISMATCH', 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED'])
    expect(response?.description).toContain(`\`${code}\``);
});

test('every error code of a response is listed with its cause', () => {
  const described = operations.flatMap(({ operation }) => Object.values(operation.responses as Record<string, Json>));
  const shared = Object.values((document.components as { responses: Record<string, Json> }).responses);
  const lists = [...described, ...shared].flatMap(({ description }) => /Codes: .*/s.exec(String(description)) ?? []);
  expect(lists.length).toBeGreaterThan(180);
  for (const list of lists) expect(list).toMatch(/^Codes: (?:`[A-Z_]+` \([^()]{15,}\)(?:, |\.$))+$/);
});

test('path parameters are not repeated in the body, and have the names of the path', () => {
  for (const { path, operation } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const parameters = operation.parameters as { name: string; in: string }[];
    expect(
      parameters
        .filter((one) => one.in === 'path')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(named.sort());
    const body = operation.requestBody as { content: Record<string, { schema: { properties: Json } }> } | undefined;
    const fields = Object.keys(Object.values(body?.content ?? {})[0]?.schema.properties ?? {});
    expect(fields.filter((name) => named.includes(name))).toEqual([]);
  }
});

test('parts of responses have schema names, which generated clients use', () => {
  const { schemas } = document.components as { schemas: Record<string, Json> };
  const text = JSON.stringify(document);
  for (const name of ['Message', 'User', 'UserGroup', 'Draft', 'Attachment', 'ScheduledMessage'])
    expect([name, schemas[name] !== undefined, text.includes(`"#/components/schemas/${name}"`)]).toEqual([
      name,
      true,
      true,
    ]);
  const answer = operations.find(({ operation }) => operation.operationId === 'get-messages')?.operation.responses;
  expect(answer).toHaveProperty(
    ['200', 'content', 'application/json', 'schema', 'properties', 'messages', 'items', '$ref'],
    '#/components/schemas/Message',
  );
});

test('encodings, alternative names, files and access without an account are declared', () => {
  const named = (name: string): Json =>
    operations.find(({ operation }) => operation.operationId === name)?.operation ?? {};
  const requestOf = (name: string, type: string): Json =>
    (named(name).requestBody as { content: Record<string, Json> }).content[type] ?? {};
  const send = requestOf('send-message', 'application/x-www-form-urlencoded');
  expect(send.encoding).toMatchObject({ to: { contentType: 'application/json' } });
  expect(send.encoding).not.toHaveProperty('content');
  const { topic } = (send.schema as { properties: Record<string, Json> }).properties;
  expect(topic?.description).toMatch(/Also accepted as `subject`\.$/);
  const read = named('get-messages').parameters as (Json & { name: string })[];
  const parameter = (name: string): Json => read.find((one) => one.name === name) ?? {};
  expect(parameter('narrow')).toHaveProperty(['content', 'application/json', 'schema']);
  expect(parameter('anchor_date')).toHaveProperty('schema');
  expect(named('get-messages').security).toContainEqual({});
  expect(named('get-own-user').security).not.toContainEqual({});
  const { file } = (requestOf('upload-file', 'multipart/form-data').schema as { properties: Record<string, Json> })
    .properties;
  expect(file).toMatchObject({ type: 'string', format: 'binary' });
  expect(named('send-message').description).toContain('Events: `message`, `user_topic`.');
});

const otherSuccess: Record<string, string> = {
  login: '303',
  logout: '303',
  'create-resumable-upload': '201',
  'delete-resumable-upload': '204',
};

test('every operation has one topic, a description and its errors', () => {
  const topics = (document.tags as { name: string }[]).map(({ name }) => name);
  for (const { operation } of operations) {
    expect(operation.tags).toHaveLength(1);
    expect(topics).toContain((operation.tags as string[])[0]);
    expect(operation.description).not.toBe('');
    const success = otherSuccess[operation.operationId as string] ?? '200';
    expect(Object.keys(operation.responses as Json)).toEqual(expect.arrayContaining([success, '400', '429', '503']));
  }
});
