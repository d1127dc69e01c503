import { z } from 'zod';

/**
 * Schemas of parameters. Every value has an upper bound on its size: the builders below require it, and `text`, `json`
 * and `textOrJson` accept nothing else, so `json(z.array(z.string()))` does not compile. `boundOf` derives from a
 * schema the maximum length of its text and the maximum depth of its JSON, which are checked before the value is
 * decoded (ADR 11).
 */
declare const bounded: unique symbol;
interface Marked {
  readonly [bounded]: true;
}
type Plain = (z.ZodType & Marked) | z.ZodBoolean | z.ZodEnum | z.ZodLiteral | z.ZodNull;

/** A value that is always present. */
export type BoundedValue = Plain | z.ZodPipe<Plain, z.ZodTransform>;
/** A value that may be absent, null or have a default. */
export type Bounded =
  | BoundedValue
  | z.ZodOptional<BoundedValue | z.ZodNullable<BoundedValue>>
  | z.ZodNullable<BoundedValue>
  | z.ZodDefault<BoundedValue>;

/**
 * Zod checks the length of everything that has one, also if its type is wrong. Comparing the length of
 * `{"length": {"toString": 1}}` throws, so lengths are checked for the right type alone. The types of zod lack `when`.
 */
const ifText: object = { when: ({ value }: { value: unknown }) => typeof value === 'string' };
const ifList: object = { when: ({ value }: { value: unknown }) => Array.isArray(value) };

/** Text of at most this many characters (code points). */
export const string = (maxCharacters: number) => z.string().max(maxCharacters, ifText) as z.ZodString & Marked;

/** The same, counted after surrounding whitespace is removed. */
export const trimmed = (maxCharacters: number) => z.string().trim().max(maxCharacters, ifText) as z.ZodString & Marked;

/** The same without empty text. */
export const trimmedNonEmpty = (maxCharacters: number) => trimmed(maxCharacters).min(1, ifText) as z.ZodString & Marked;

/** Bytes in base64. */
export const base64 = (maxBytes: number) =>
  z
    .string()
    .max(Math.ceil(maxBytes / 3) * 4, ifText)
    .check(z.core._check(() => undefined, { isAscii: 1 } as never)) as z.ZodString & Marked;

export const integer = (min: number, max: number) => z.int().min(min).max(max) as z.ZodInt & Marked;

/** The greatest `int` of Postgres, and so the greatest ID of most objects. */
export const maxId = 2 ** 31 - 1;

/**
 * The ID of an object that Postgres numbers with an `int`. Negative numbers are valid here: handlers answer that there
 * is no such object.
 */
export const id = integer(-(2 ** 31), maxId);

/** The ID of a message or an event, or another number that Postgres stores in a `bigint`. */
export const bigId = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

export const number = (min: number, max: number) => z.number().min(min).max(max) as z.ZodNumber & Marked;

export const list = <S extends BoundedValue>(item: S, maxItems: number) =>
  z.array(item).max(maxItems, ifList) as z.ZodArray<S> & Marked;

export const tuple = <const T extends readonly [BoundedValue, ...BoundedValue[]]>(items: T) =>
  z.tuple(items) as unknown as z.ZodTuple<T, null> & Marked;

/** Unknown keys are ignored. */
export const object = <S extends Record<string, Bounded>>(properties: S) =>
  z.object(properties) as z.ZodObject<S, z.core.$strip> & Marked;

/** Unknown keys are refused. */
export const strictObject = <S extends Record<string, Bounded>>(properties: S) =>
  z.strictObject(properties) as z.ZodObject<S, z.core.$strict> & Marked;

export const union = <const T extends readonly [Bounded, ...Bounded[]]>(options: T) =>
  z.union(options) as z.ZodUnion<T> & Marked;

/** An object whose keys the client chooses. */
export function record<S extends BoundedValue>(value: S, limits: { keys: number; keyCharacters: number }) {
  const check = z.core._check<Record<string, unknown>>(
    (payload) => {
      if (Object.keys(payload.value).length > limits.keys)
        payload.issues.push({
          code: 'too_big',
          origin: 'object',
          maximum: limits.keys,
          inclusive: true,
          input: payload.value,
        });
    },
    { maxProperties: limits.keys } as never,
  );
  return z.record(z.string().max(limits.keyCharacters, ifText), value).check(check) as z.ZodRecord<z.ZodString, S> &
    Marked;
}

/** Any JSON, for handlers that validate it themselves and answer with their own error code. */
export const anyJson = (limits: { characters: number; depth: number; parts: number }) =>
  z.unknown().check(z.core._check(() => undefined, limits as never)) as z.ZodUnknown & Marked;

export interface Bound {
  /** Characters of the value as plain text. */
  characters: number;
  /** UTF-16 units of the value as JSON, where every character may be escaped. */
  json: number;
  /** Bytes of either in a form, where a byte may be written as %XX. */
  form: number;
  /** Nesting depth of lists and objects. */
  depth: number;
  /** Lists, objects and commas in the JSON of the value. */
  parts: number;
}

/** Maximum length of a number that JavaScript writes. */
const numberUnits = 24;
/** Allowance for ignored keys of an object. */
const [otherKeysUnits, otherKeysParts] = [64, 8];

/** Throws for a schema without a bound, so that a type assertion cannot bypass the builders. */
export function boundOf(schema: z.core.$ZodType): Bound {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case 'string':
      return ofString((schema as z.ZodString).maxLength, limitOf(def, 'isAscii') !== undefined);
    case 'number':
    case 'boolean':
    case 'null':
      return { characters: numberUnits, json: numberUnits, form: numberUnits, depth: 0, parts: 0 };
    case 'enum':
      return ofLiterals(Object.values(def.entries));
    case 'literal':
      return ofLiterals(def.values);
    case 'optional':
    case 'nullable':
    case 'default':
      return boundOf(def.innerType);
    case 'pipe':
      return boundOf(def.in);
    case 'union':
      return widest(def.options.map(boundOf));
    case 'tuple':
      return nested(def.items.map((item) => boundOf(item)));
    case 'array':
      return repeated(boundOf(def.element), checkOf(def, 'maximum'));
    case 'record':
      return repeated(pair(boundOf(def.keyType), boundOf(def.valueType)), checkOf(def, 'maxProperties'));
    case 'object':
      return nested(
        Object.entries(def.shape).map(([key, value]) => pair(ofLiterals([key]), boundOf(value as z.core.$ZodType))),
      );
    case 'unknown': {
      const characters = checkOf(def, 'characters');
      return {
        characters,
        json: characters,
        form: 3 * characters,
        depth: checkOf(def, 'depth'),
        parts: checkOf(def, 'parts'),
      };
    }
    default:
      throw new Error(`A parameter of type ${def.type} has no bound`);
  }
}

/** The limit stored in one of a schema's checks. */
export function limitOf(def: { checks?: z.core.$ZodCheck<never>[] | undefined }, name: string): number | undefined {
  const found = def.checks?.map((check) => (check._zod.def as unknown as Record<string, unknown>)[name]);
  return found?.find((limit) => typeof limit === 'number');
}

function checkOf(def: { type: string; checks?: z.core.$ZodCheck<never>[] | undefined }, name: string): number {
  const limit = limitOf(def, name);
  if (limit === undefined) throw new Error(`A parameter of type ${def.type} has no bound`);
  return limit;
}

function ofString(characters: number | null, isAscii: boolean): Bound {
  if (characters === null) throw new Error('A text parameter has no bound');
  if (isAscii) return { characters, json: characters + 2, form: 2 * characters, depth: 0, parts: 0 };
  // A character is at most two UTF-16 units. JSON may write each as \uXXXX, which is eight bytes in a form.
  return { characters, json: 12 * characters + 2, form: 16 * characters + 6, depth: 0, parts: 0 };
}

function ofLiterals(values: readonly unknown[]): Bound {
  const longest = Math.max(...values.map((value) => String(value).length));
  return { characters: longest, json: 6 * longest + 2, form: 8 * longest + 6, depth: 0, parts: 0 };
}

const widest = (bounds: readonly Bound[]): Bound => ({
  characters: Math.max(...bounds.map(({ characters }) => characters)),
  json: Math.max(...bounds.map(({ json }) => json)),
  form: Math.max(...bounds.map(({ form }) => form)),
  depth: Math.max(...bounds.map(({ depth }) => depth)),
  parts: Math.max(...bounds.map(({ parts }) => parts)),
});

const pair = (key: Bound, value: Bound): Bound => ({
  ...value,
  json: key.json + value.json + 2,
  form: key.form + value.form + 6,
});

function nested(items: readonly Bound[]): Bound {
  const json = items.reduce((sum, item) => sum + item.json + 2, otherKeysUnits);
  const form = items.reduce((sum, item) => sum + item.form + 6, 3 * otherKeysUnits);
  const depth = 1 + Math.max(0, ...items.map(({ depth }) => depth));
  const parts = items.reduce((sum, item) => sum + item.parts + 1, 1 + otherKeysParts);
  return { characters: json, json, form, depth, parts };
}

function repeated(item: Bound, count: number): Bound {
  const json = 2 + count * (item.json + 2);
  const form = 6 + count * (item.form + 6);
  return { characters: json, json, form, depth: 1 + item.depth, parts: 1 + count * (item.parts + 1) };
}
