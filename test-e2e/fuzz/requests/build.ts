/** Generates requests of an operation of the contract. */
import { type Operation, type Param, streamsBody } from '@natter/contracts';
import { type Call, encoded, type FieldValue } from './call.ts';
import { kindOf } from './dictionary.ts';
import { hostileBytes, hostileJsonText, hostileText } from './hostile.ts';
import { fileOf, validFile } from './hostile-files.ts';
import { recipes } from './recipes.ts';
import type { Making } from './samples.ts';
import { mutate } from './transport.ts';
import { type Mood, makeValue } from './values.ts';

/** Probability of an optional parameter, and the average maximum: among a hundred values one is always wrong. */
const optionalShare = 0.25;
const optionalCount = 3;

export function buildCall(operation: Operation, role: string, making: Making): Call {
  const { random } = making;
  const route = operation.http ?? operation.page;
  if (!route) throw new Error(`${operation.name} has no route`);
  const mood = moodOf(making);
  const given = random.chance(0.9) ? (recipes[operation.name]?.(making) ?? {}) : {};
  const inPath = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ''));
  const names = Object.keys(operation.params);
  const bad = mood === 'valid' ? undefined : random.pick(names.length > 0 ? names : ['']);
  // A single odd value among ordinary ones reaches code that many odd values never reach.
  const moodOfParam = (name: string): Mood =>
    name === bad || (mood === 'hostile' && random.chance(0.15)) ? mood : 'valid';
  const fields: Call['fields'] = [];
  const headers: Call['headers'] = {};
  for (const [name, param] of Object.entries(operation.params)) {
    if (inPath.has(name) || name === 'file' || param.encoding === 'body') continue;
    const own = moodOfParam(name);
    const share = Math.min(optionalShare, optionalCount / names.length);
    if (!isNamed(param, { isGiven: given[name] !== undefined, isBad: name === bad, share }, making)) continue;
    const value =
      own === 'valid' && name in given ? given[name] : makeValue({ schema: param.schema, name }, own, making);
    if (value === undefined && !(own === 'hostile')) continue;
    if (param.header !== undefined) {
      const text = fieldOf(param, value, own, making);
      // Others are not sent as a header by any client.
      if (typeof text === 'string' && /^[ -~]{0,4000}$/.test(text)) headers[param.header.toLowerCase()] = text;
      continue;
    }
    const alias = param.aliases.length > 0 && random.chance(0.2) ? random.pick(param.aliases) : name;
    fields.push([alias, fieldOf(param, value, own, making)]);
  }
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    segmentOf(name, operation.params[name], moodOfParam(name), { making, given: given[name] }),
  );
  const takesFile = 'file' in operation.params;
  const call: Call = {
    operation: operation.name,
    role,
    method: route.method,
    path: `${operation.http ? (role === 'browser' ? '/json' : '/api/v1') : ''}${path}`,
    fields,
    file: takesFile && random.chance(0.95) ? (mood === 'valid' ? validFile : fileOf(random)) : undefined,
    form: route.method === 'GET' ? 'query' : takesFile ? 'multipart' : 'urlencoded',
    headers,
    body: undefined,
    cut: undefined,
    mutation: undefined,
  };
  if (streamsBody(operation) && random.chance(0.95)) {
    headers['content-type'] = 'application/offset+octet-stream';
    call.body = 'a'.repeat(random.pick([0, 1, 5, 1_000]));
  }
  if (call.form === 'query' && random.chance(0.9)) call.fields = call.fields.map(shortened);
  // A waiting poll is cut off, so that the run does not wait for it.
  if (operation.name === 'get-events' && !fields.some(([name, value]) => name === 'dont_block' && value === 'true'))
    call.cut = { afterMs: 50 };
  if (random.chance(0.06)) mutate(call, random);
  return call;
}

/** A query that exceeds the header limit is refused before it is parsed. */
const shortened = ([name, value]: Call['fields'][number]): Call['fields'][number] => [
  name,
  typeof value === 'string' ? value.slice(0, 1_500) : value,
];

function moodOf({ random }: Making): Mood {
  const dice = random.next();
  if (dice < 0.6) return 'valid';
  return dice < 0.78 ? 'boundary' : 'hostile';
}

function isNamed(
  param: Param,
  { isGiven, isBad, share }: { isGiven: boolean; isBad: boolean; share: number },
  { random }: Making,
): boolean {
  if (isGiven || isBad) return true;
  return random.chance(param.required ? 0.99 : share);
}

function fieldOf(param: Param, value: unknown, mood: Mood, making: Making): FieldValue {
  const { random } = making;
  if (mood === 'hostile') {
    if (random.chance(0.05)) return { encoded: random.pick(hostileBytes) };
    if (param.encoding !== 'text' && random.chance(0.4)) return hostileJsonText(random);
  }
  if (param.encoding === 'text') return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (param.encoding === 'textOrJson' && typeof value === 'string' && random.chance(0.7)) return value;
  return JSON.stringify(value) ?? 'null';
}

function segmentOf(
  name: string,
  param: Param | undefined,
  mood: Mood,
  { making, given }: { making: Making; given: unknown },
): string {
  const { random, dictionary } = making;
  if (mood === 'hostile' && random.chance(0.1)) return random.pick(hostileBytes);
  if (mood === 'hostile') return encoded(hostileText(random).slice(0, 1_200)) || '%20';
  if (given !== undefined) return encoded(String(given));
  const foreign = random.chance(0.03) ? dictionary.pick(`foreign-${kindOf(name)}`, random) : undefined;
  if (foreign !== undefined) return encoded(String(foreign));
  const value = param ? makeValue({ schema: param.schema, name }, mood, making) : undefined;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '1');
  return encoded(text.slice(0, 1_200)) || '%20';
}
