/** Values for a schema of the contract: ordinary ones, those at its bounds, and hostile ones. */
import type { z } from 'zod';
import { kindOf } from './dictionary.ts';
import { boundaryNumbers, hostileText } from './hostile.ts';
import { type Making, narrowOf, sampleNumber, sampleText } from './samples.ts';

export type Mood = 'valid' | 'boundary' | 'hostile';
type Schema = z.core.$ZodType;

/** The parts of a zod definition that are used; `type` determines which of them exist. */
interface Definition {
  type: string;
  innerType: Schema;
  element: Schema;
  shape: Record<string, Schema>;
  options: Schema[];
  items: Schema[];
  keyType: Schema;
  valueType: Schema;
  in: Schema;
  out: Schema;
  left: Schema;
  getter: () => Schema;
  values: unknown[];
  entries: Record<string, unknown>;
  catchall?: Schema;
  checks?: { _zod: { def: { check: string; value?: unknown; minimum?: number; maximum?: number; format?: string } } }[];
  format?: string;
}
export const definitionOf = (schema: Schema): Definition => schema._zod.def as unknown as Definition;

interface Bounds {
  min: number | undefined;
  max: number | undefined;
}

function boundsOf(schema: Schema): Bounds {
  const bounds: Bounds = { min: undefined, max: undefined };
  for (const check of definitionOf(schema).checks ?? []) {
    const { check: kind, value, minimum, maximum } = check._zod.def;
    if (kind === 'greater_than') bounds.min = Number(value);
    if (kind === 'less_than') bounds.max = Number(value);
    if (kind === 'min_length' || kind === 'min_size') bounds.min = minimum;
    if (kind === 'max_length' || kind === 'max_size') bounds.max = maximum;
  }
  return bounds;
}

interface Field {
  schema: Schema;
  name: string;
}

/** A value for a parameter or field; undefined omits it. */
export function makeValue({ schema, name }: Field, mood: Mood, making: Making, depth = 0): unknown {
  const { random } = making;
  // In a composite value most parts stay ordinary, so that the odd one is reached.
  const part = depth > 0 && mood !== 'valid' && random.chance(0.6) ? 'valid' : mood;
  const definition = definitionOf(schema);
  const inner = (of: Schema, as = name, deeper = depth): unknown =>
    makeValue({ schema: of, name: as }, part, making, deeper);
  if (part === 'hostile' && random.chance(0.25)) return anything(making, 0);
  switch (definition.type) {
    case 'string':
      return textOf(schema, name, part, making);
    case 'number':
    case 'int':
      return numberOf(schema, name, part, making);
    case 'boolean':
      return part === 'valid' ? random.chance(0.5) : random.pick<unknown>([true, false, 0, 'true', null]);
    case 'literal':
      return part === 'hostile' ? hostileText(random) : random.pick(definition.values);
    case 'enum':
      return part === 'hostile' ? hostileText(random) : random.pick(Object.values(definition.entries));
    case 'null':
      return null;
    case 'optional':
    case 'default':
    case 'prefault':
      return random.chance(depth === 0 ? 0.05 : 0.5) ? undefined : inner(definition.innerType);
    case 'nullable':
      return random.chance(0.2) ? null : inner(definition.innerType);
    case 'readonly':
    case 'catch':
    case 'nonoptional':
      return inner(definition.innerType);
    case 'pipe':
      return inner(definitionOf(definition.in).type === 'transform' ? definition.out : definition.in);
    case 'union':
      return inner(random.pick(definition.options));
    case 'lazy':
      return depth > 5 ? null : inner(definition.getter());
    case 'array':
      return arrayOf({ schema, name }, part, making, depth);
    case 'tuple':
      return definition.items.map((item) => inner(item, name, depth + 1));
    case 'object':
      return objectOf(definition, part, making, depth);
    case 'record':
      return recordOf(definition, name, part, making);
    default:
      return unknownOf(name, part, making);
  }
}

function textOf(schema: Schema, name: string, mood: Mood, making: Making): unknown {
  const { random, dictionary } = making;
  const { min, max } = boundsOf(schema);
  if (mood === 'boundary') {
    const lengths = [
      0,
      1,
      ...(min === undefined ? [] : [min - 1, min]),
      ...(max === undefined ? [60, 10_000] : [max, max + 1]),
    ];
    const length = Math.max(0, Math.min(random.pick(lengths), 2_000_000));
    const unit = random.pick(['x', 'é', '\u{1f600}', ' ', 'a ', '\u0301']);
    return unit
      .repeat(Math.ceil(length / [...unit].length))
      .slice(0, length * (unit.length > 1 && unit !== 'a ' ? 2 : 1));
  }
  if (mood === 'hostile') return hostileText(random);
  const sample = sampleText(name, making);
  if (sample !== undefined) return max === undefined ? sample : [...sample].slice(0, max).join('');
  const known = random.chance(0.6) ? dictionary.pick(kindOf(name), random) : undefined;
  const text = known === undefined ? `text ${random.below(1_000)}` : String(known);
  return (max === undefined ? text : text.slice(0, max)).padEnd(min ?? 0, 'x');
}

function numberOf(schema: Schema, name: string, mood: Mood, making: Making): unknown {
  const { random, dictionary } = making;
  const { min, max } = boundsOf(schema);
  if (mood === 'boundary')
    return random.pick([
      ...boundaryNumbers,
      ...(min === undefined ? [] : [min, min - 1, min, min + 1]),
      ...(max === undefined ? [] : [max, max + 1, max, max - 1]),
    ]);
  if (mood === 'hostile') return random.pick<unknown>([random.pick(boundaryNumbers), 'x', null, [1], {}, '1', true]);
  const known = random.chance(0.95) ? dictionary.pick(kindOf(name), random) : undefined;
  const sample = sampleNumber(name, making) ?? (typeof known === 'number' ? known : undefined);
  const value = sample ?? (min ?? 0) + random.below(5);
  return Math.min(Math.max(value, min ?? -Infinity), max ?? Infinity);
}

function arrayOf({ schema, name }: Field, mood: Mood, making: Making, depth: number): unknown {
  const { random } = making;
  const { min, max } = boundsOf(schema);
  const element = { schema: definitionOf(schema).element, name };
  let length = Math.max(min ?? 0, random.pick([0, 1, 1, 1, 2, 3]));
  if (mood === 'boundary' && depth === 0 && random.chance(0.5))
    length = Math.min(random.pick(max === undefined ? [0, 100, 1_000] : [0, max, max + 1]), 3_000);
  if (mood === 'hostile' && random.chance(0.03)) length = 5_000;
  if (length <= 20) return Array.from({ length }, () => makeValue(element, mood, making, depth + 1) ?? null);
  // Long lists repeat a few values with small differences, so that building them is cheap.
  const some = Array.from({ length: 5 }, () => makeValue(element, 'valid', making, depth + 1) ?? null);
  return Array.from({ length }, (_, index) => {
    const one = some[index % some.length];
    return typeof one === 'string' ? `${one}${index}` : typeof one === 'number' ? one + index : one;
  });
}

function objectOf(definition: Definition, mood: Mood, making: Making, depth: number): unknown {
  const { random } = making;
  const entries = Object.entries(definition.shape).flatMap(([key, schema]) => {
    const { type } = definitionOf(schema);
    const isOptional = type === 'optional' || type === 'default';
    if (isOptional && random.chance(0.5)) return [];
    if (mood === 'hostile' && random.chance(0.1)) return [];
    const value = makeValue({ schema, name: key }, mood, making, depth + 1);
    return value === undefined ? [] : [[key, value] as const];
  });
  const extra = mood === 'hostile' && random.chance(0.3) ? [[hostileText(random).slice(0, 50), 1] as const] : [];
  return Object.fromEntries([...entries, ...extra]);
}

function recordOf({ keyType, valueType }: Definition, name: string, mood: Mood, making: Making): unknown {
  const count = making.random.below(4);
  return Object.fromEntries(
    Array.from({ length: count }, () => {
      const key = makeValue({ schema: keyType, name }, mood, making, 1);
      const text = typeof key === 'string' ? key : (JSON.stringify(key) ?? '');
      return [text.slice(0, 200), makeValue({ schema: valueType, name }, mood, making, 1) ?? null];
    }),
  );
}

function unknownOf(name: string, mood: Mood, making: Making): unknown {
  if (name === 'narrow' && mood !== 'hostile') return narrowOf(making);
  return anything(making, 0);
}

/** A random JSON value. */
function anything(making: Making, depth: number): unknown {
  const { random } = making;
  const kind = random.below(depth > 3 ? 5 : 8);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return random.pick(boundaryNumbers);
  if (kind <= 4) return hostileText(random).slice(0, 300);
  if (kind <= 6) return Array.from({ length: random.below(4) }, () => anything(making, depth + 1));
  const keys = ['a', '__proto__', 'toString', 'id', 'length', 'type', 'operator', 'operand'];
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [random.pick(keys), anything(making, depth + 1)]),
  );
}
