import { fieldValues } from './field-values.ts';

/** A JSON Schema, as far as examples need it. */
interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  prefixItems?: Schema[];
  minItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  propertyNames?: Schema;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

/**
 * A value that a JSON Schema permits, made from the example values of its fields. `extra` names optional fields that
 * the example contains, with their path. It contains `undefined` where a text has no example value.
 */
export function exampleOfSchema(schema: object, extra: readonly string[] = []): unknown {
  return valueFor(schema as Schema, '', '', extra);
}

/** `parent` is the name of the object or list that contains the value. */
function valueFor(schema: Schema, name: string, parent: string, extra: readonly string[] = []): unknown {
  if ('const' in schema) return schema.const;
  for (const known of [fieldValues[`${parent}.${name}`], fieldValues[name]])
    if (known !== undefined && permits(schema, known)) return known;
  if (schema.enum) return schema.enum[0];
  const [form] = schema.anyOf ?? schema.oneOf ?? [];
  if (form) return valueFor(form, name, parent, extra);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => valueFor(part, name, parent, extra)));
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, name, extra);
    case 'array':
      return listOf(schema, name, parent);
    case 'string':
      return schema.format === 'uri' ? 'https://example.com' : undefined;
    case 'integer':
    case 'number':
      return within(schema, 1);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return {};
  }
}

/** An object has its required fields; one that would be empty gets its first field. */
function objectOf(schema: Schema, name: string, extra: readonly string[]): unknown {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const names = Object.keys(properties);
  if (names.length === 0 && typeof additionalProperties === 'object') {
    const key = [keyOf[name] ?? '7', '7'].find((one) => permits({ type: 'string', ...propertyNames }, one)) ?? '7';
    return { [key]: valueFor(additionalProperties, singular(name), name) };
  }
  const wanted = new Set([...required, ...extra.map((path) => path.split('.')[0] ?? '')]);
  const chosen = names.filter((key) => wanted.has(key));
  const below = (key: string) =>
    extra.filter((path) => path.startsWith(`${key}.`)).map((path) => path.slice(key.length + 1));
  return Object.fromEntries(
    (chosen.length > 0 ? chosen : names.slice(0, 1)).map((key) => [
      key,
      valueFor(properties[key] ?? {}, key, name, below(key)),
    ]),
  );
}

/** Records whose keys are not IDs. */
const keyOf: Readonly<Record<string, string>> = {
  presences: 'ada@example.com',
  presence: 'website',
  storage: 'state',
  subscribed: '12',
  already_subscribed: '12',
};

/** A list is named after what it lists. */
function listOf({ items, prefixItems, minItems = 1 }: Schema, name: string, parent: string): unknown[] {
  const one = singular(name);
  if (prefixItems) return prefixItems.map((item) => valueFor(item, one, parent));
  if (!items || Object.keys(items).length === 0) return [];
  const value = valueFor(items, one, parent);
  return Array.from({ length: Math.max(1, minItems) }, () => value);
}

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/s$/, '');

function typeOf({ type, properties, additionalProperties, items }: Schema): string | undefined {
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null';
  return type ?? (properties || typeof additionalProperties === 'object' ? 'object' : items ? 'array' : undefined);
}

/** Whether a text, a number or a list of them is permitted. Objects are never: they are made field by field. */
function permits(schema: Schema, value: unknown): boolean {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return forms.some((form) => permits(form, value));
  if ('const' in schema) return schema.const === value;
  if (schema.enum) return schema.enum.includes(value);
  const types = [schema.type ?? []].flat();
  if (typeof value === 'string')
    return types.includes('string') && (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value));
  if (typeof value === 'number')
    return (types.includes('integer') || types.includes('number')) && within(schema, value) === value;
  if (Array.isArray(value))
    return (
      types.includes('array') && value.every((one, i) => permits(schema.prefixItems?.[i] ?? schema.items ?? {}, one))
    );
  return typeof value === 'boolean' && types.includes('boolean');
}

const within = ({ minimum = -Infinity, maximum = Infinity }: Schema, value: number): number =>
  Math.min(Math.max(value, minimum), maximum);
