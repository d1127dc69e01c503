import { type Answer, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { untilServed } from '../../patience.ts';
import { Browser } from '../browser.ts';

/** Every parameter of every operation in /openapi.json is sent at its bound, above it, and with hostile values. */
interface Operation {
  name: string;
  method: string;
  path: string;
  parameters: [string, Json][];
  required: Set<string>;
  /** Parameters that are headers. */
  inHeaders: Set<string>;
  /** The content type of a body that is no form. */
  type: string | undefined;
}

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data'];

let realm: Realm;
let browser: Browser;
let operations: Operation[];

beforeAll(async () => {
  realm = await openRealm();
  const person = await realm.person({ hasPassword: true });
  browser = new Browser(realm.spectator);
  await browser.login(person.email, person.password);
  const { paths } = (await realm.spectator.get('//openapi.json')).body;
  operations = Object.entries<Json>(paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => {
      const body = Object.values<Json>(operation.requestBody?.content ?? {})[0]?.schema;
      const own = operation.parameters.filter((one: Json) => ['path', 'query', 'header'].includes(one.in));
      const listed = own.map(({ name, schema, content }: Json) => [name, schema ?? content['application/json'].schema]);
      return {
        name: operation.operationId,
        method: method.toUpperCase(),
        path: operation.servers ? `/${path}` : path,
        parameters: [...new Map<string, Json>([...listed, ...Object.entries(body?.properties ?? {})])],
        required: new Set<string>([
          ...(body?.required ?? []),
          ...own.filter((one: Json) => one.required).map((one: Json) => one.name),
        ]),
        inHeaders: new Set<string>(own.filter((one: Json) => one.in === 'header').map((one: Json) => one.name)),
        type: Object.keys(operation.requestBody?.content ?? {}).find((type) => !formTypes.includes(type)),
      };
    }),
  );
});

test('every parameter of the documented API has a bound', () => {
  expect(operations.length).toBeGreaterThan(200);
  for (const { name, parameters } of operations)
    for (const [parameter, schema] of parameters) {
      if (schema.format === 'binary') continue;
      expect(schema['x-max-length'], `${name} ${parameter}`).toBeTypeOf('number');
      expect(unbounded(schema, parameter), name).toEqual([]);
    }
});

describe('each parameter of each operation', () => {
  const each = (values: (schema: Json) => [string, string][]) => async () => {
    const failures: string[] = [];
    const requests = operations.flatMap((operation) => requestsOf(operation, values));
    expect(requests.length).toBeGreaterThan(300);
    const waiting = requests.values();
    const worker = async () => {
      for (const { operation, parameter, what, value } of waiting) {
        // A busy server answers 503 for a while, and a busy client may write to a connection that was closed as idle. A
        // value that fails the request fails it each time.
        const attempt = () => untilServed(() => send(operation, parameter, value));
        const answer = await attempt()
          .catch(attempt)
          .catch((error: Error) => error);
        const wrong = verdict(what, answer);
        if (wrong) failures.push(`${operation.name} ${parameter} ${what}: ${wrong}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(failures).toEqual([]);
  };

  test('is rejected above its bound', each(above), 900_000);

  test('does not cause a server error with any hostile value', each(hostile), 1_800_000);
});

/** Requests with values for each parameter. If many parameters have equal schemas, only two of them get all values. */
function requestsOf(operation: Operation, values: (schema: Json) => [string, string][]) {
  const seen = new Map<string, number>();
  return operation.parameters.flatMap(([parameter, schema]) => {
    if (schema.format === 'binary' || isSpared(operation, parameter)) return [];
    const kind = JSON.stringify({ ...schema, description: undefined, example: undefined, examples: undefined });
    const count = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, count);
    const chosen = count <= 2 ? values(schema) : values(schema).slice(0, 1);
    // The head of a request has at most 16 KiB.
    const isInHeader = operation.inHeaders.has(parameter);
    const isInHead = operation.method === 'GET' || operation.path.includes(`{${parameter}}`) || isInHeader;
    return chosen
      .filter(([, value]) => !isInHead || encodeURIComponent(value).length < 12_000)
      .filter(([, value]) => !isInHeader || /^[ -~]*$/.test(value))
      .map(([what, value]) => ({ operation, parameter, what, value }));
  });
}

function above(schema: Json): [string, string][] {
  // The field of an image may be twice its bound, because almost all of it could be outside ASCII.
  const longest = schema['x-max-length'] > 2_200_000 ? schema.maxLength : schema['x-max-length'];
  const text: [string, string] = ['above', 'a'.repeat(longest + 1)];
  const items = schema.maxItems ?? schema.anyOf?.find((one: Json) => one.maxItems)?.maxItems;
  if (items === undefined || items > 20_000) return [text];
  return [text, ['too many', `[${Array.from({ length: items + 1 }, () => 1).join()}]`]];
}

test('the requests of an independent review are rejected', async () => {
  const { member, owner, spectator } = realm;
  const expectRefusal = ({ status, body }: Answer, text: RegExp) => {
    expect(body.msg).toMatch(text);
    expect([400, 413]).toContain(status);
  };
  const channel = (await owner.ok('POST', '/channels/create', { name: 'typed', subscribers: [member.user_id] })).id;
  const typing = { type: 'stream', op: 'start', stream_id: channel };
  expectRefusal(await member.post('/typing', { ...typing, topic: 'a'.repeat(20_000_000) }), /too (long|large)/);
  const terms = (count: number) => Array.from({ length: count }, () => ['is', 'dm']);
  expectRefusal(await member.post('/messages/flags/narrow', narrowed(terms(200_000))), /too (long|large)/);
  expectRefusal(await member.post('/messages/flags/narrow', narrowed(terms(101))), /more than 100 terms/);
  expectRefusal(await member.post('/register', { narrow: terms(300_000) }), /too (long|large)/);
  expectRefusal(await member.post('/register', { narrow: terms(101) }), /narrow has too many items \(limit: 100\)/);
  const words = Array.from({ length: 100_000 }, (_, index) => `w${index}`);
  expectRefusal(await member.post('/users/me/alert_words', { alert_words: words }), /too many items|too large/);
  const draft = { type: '', to: [], topic: '', content: 'x' };
  const drafts = (count: number) => Array.from({ length: count }, () => draft);
  expectRefusal(await member.post('/drafts', { drafts: drafts(30_000) }), /too many items|too large/);
  const data = Array.from({ length: 20_000 }, (_, id) => ({ id, value: 'x' }));
  expectRefusal(await member.patch('/users/me/profile_data', { data }), /too many items|too large/);
  const message = { type: 'direct', to: [member.user_id], content: 'x', queue_id: 'q' };
  expectRefusal(await member.post('/messages', { ...message, local_id: '1'.repeat(15_000_000) }), /too (long|large)/);
  const emails = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@x.example`).join();
  const invite = { stream_ids: [], invitee_emails: emails(3_000) };
  expectRefusal(await owner.post('/invites', invite), /at most 200 people/);
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expectRefusal(
    await member.post('/messages/flags/narrow', { ...narrowed([]), narrow: deep }),
    /too (deep|long|large)/,
  );
  expectRefusal(await spectator.post('/register', { client_capabilities: `{"a":${deep}}` }), /too (deep|long|large)/);
  expectRefusal(
    await owner.post('/realm/profile_fields', { name: 'x', field_type: 3, field_data: `{"a":${deep}}` }),
    /too (deep|long|large)/,
  );
  for (const operand of [{ toString: 1 }, JSON.parse('{"__proto__":1}'), { constructor: 1 }])
    for (const operator of ['channel', 'toString', 'constructor', '__proto__'])
      expectRefusal(await member.post('/messages/flags/narrow', narrowed([{ operator, operand }])), /Invalid narrow/);
});

const narrowed = (narrow: unknown) => ({
  anchor: 'newest',
  num_before: 1,
  num_after: 0,
  op: 'add',
  flag: 'read',
  narrow,
});

/** Parameters that would end the test's own realm, wait, or send mails. */
function isSpared({ name }: Operation, parameter: string): boolean {
  return name === 'get-events' && ['queue_id', 'dont_block', 'last_event_id'].includes(parameter);
}

async function send(operation: Operation, parameter: string, value: string): Promise<Answer> {
  const { method, parameters, required } = operation;
  const form: Record<string, string> = {};
  for (const [name, schema] of parameters)
    if (name === parameter) form[name] = value;
    else if (required.has(name) && schema.format !== 'binary') form[name] = usual(schema);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const given = encodeURIComponent(form[name] ?? '1') || '1';
    delete form[name];
    return given;
  });
  const headers: Record<string, string> = operation.type === undefined ? {} : { 'content-type': operation.type };
  for (const name of operation.inHeaders) {
    if (form[name] !== undefined) headers[name] = form[name];
    delete form[name];
  }
  // Sessions begin and end in a browser, from a page of the server.
  if (path.startsWith('//accounts/log')) return browser.send(method, path.slice(1), form, { origin: browser.origin });
  return realm.owner.send(method, path, form, headers);
}

function verdict(what: string, answer: Answer | Error): string | undefined {
  if (answer instanceof Error) return answer.message;
  if (answer.status >= 500) return `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
  if (what === 'above' && !/too (long|large)/.test(answer.body.msg))
    return `${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
  if (what === 'too many' && answer.status < 400) return `accepted: ${JSON.stringify(answer.body).slice(0, 200)}`;
  return undefined;
}

/** A value of the right type that names no existing object. */
function usual(schema: Json): string {
  const { enum: words, const: only, type, anyOf, default: preset } = schema;
  const one = preset ?? only ?? words?.[0];
  if (one !== undefined) return typeof one === 'string' ? one : JSON.stringify(one);
  if (anyOf) return usual(anyOf[0]);
  if (type === 'integer' || type === 'number') return '999999';
  if (type === 'boolean') return 'true';
  if (type === 'array') return '[]';
  if (type === 'object') return '{}';
  return 'nothing';
}

function hostile(schema: Json): [string, string][] {
  const depth = 50_000;
  const texts: [string, string][] = [
    ['NUL', 'a\0b'],
    ['controls', '\u0001\u001f\u007f\u0085\u2028\ufeff\ufffe'],
    ['own methods', '{"toString":1,"valueOf":1,"constructor":{"prototype":1},"__proto__":{"length":-1},"length":1e9}'],
    ['at its bound', 'a'.repeat(Math.min(schema.maxLength ?? 100, 50_000))],
    ['a name of a method', 'constructor'],
    ['__proto__', '__proto__'],
    ['deep lists', '['.repeat(depth) + ']'.repeat(depth)],
    ['NUL in JSON', '"\\u0000"'],
    ['half a pair', '"\\ud800"'],
    ['half a pair in a list', '["\\udc00"]'],
  ];
  const numbers = [
    '1e308',
    '1e309',
    '-0',
    '1e-400',
    '9007199254740993',
    '2147483648',
    '-2147483649',
    '-1',
    'NaN',
    'Infinity',
  ];
  if (schema['x-encoding'] === undefined) return texts;
  return [
    ...texts,
    ...numbers.map((number): [string, string] => [number, number]),
    ...['1e308', '9007199254740993', '2147483648', '-1', 'null', '{}', '"a"'].map((item): [string, string] => [
      `a list of ${item}`,
      `[${item}]`,
    ]),
    ['deep objects', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    ['null', 'null'],
    ['nothing', ''],
  ];
}

/** Places where a schema has no upper bound. */
function unbounded(schema: Json, path: string): string[] {
  const inside = (one: Json, step: string) => unbounded(one, `${path}.${step}`);
  const { anyOf, allOf, oneOf, type, items, prefixItems, properties, additionalProperties } = schema;
  const parts = [...(anyOf ?? []), ...(allOf ?? []), ...(oneOf ?? [])].flatMap((one: Json, at: number) =>
    inside(one, `${at}`),
  );
  if (schema.enum || 'const' in schema || anyOf || allOf || oneOf) return parts;
  if (type === 'boolean' || type === 'null') return [];
  if (type === 'string') return schema.maxLength === undefined ? [path] : [];
  if (type === 'integer' || type === 'number')
    return schema.maximum === undefined || schema.minimum === undefined ? [path] : [];
  if (type === 'array')
    return [
      ...(schema.maxItems === undefined ? [path] : []),
      // A tuple has no items beyond its prefix.
      ...[prefixItems ?? items ?? []].flat().flatMap((one: Json) => inside(one, '[]')),
    ];
  if (type === 'object')
    return [
      ...(schema.maxProperties === undefined && !properties ? [path] : []),
      ...Object.entries(properties ?? {}).flatMap(([key, one]) => inside(one, key)),
      ...(typeof additionalProperties === 'object' && schema.maxProperties !== undefined
        ? inside(additionalProperties, '*')
        : []),
    ];
  return schema['x-max-length'] === undefined ? [path] : [];
}
