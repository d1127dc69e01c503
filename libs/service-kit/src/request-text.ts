import type { Operation } from '@natter/contracts';
import { z } from 'zod';

/**
 * The request of a client as text. It does not depend on what a release may change about the contract while a client
 * repeats a request: names are sorted, and values equal to the default are left out.
 */
export function requestText({ name, params: declared }: Operation, given: Record<string, unknown>): string {
  const schemas = Object.fromEntries(Object.entries(declared).map(([param, { schema }]) => [param, schema]));
  return `${name} ${JSON.stringify(members(schemas, given))}`;
}

type Schemas = Record<string, z.core.$ZodType | undefined>;

function members(schemas: Schemas, given: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(given)
    .filter(([name, value]) => value !== undefined && !isDefault(schemaOf(schemas, name), value))
    .map(([name, value]): [string, unknown] => [name, plain(schemaOf(schemas, name), value)]);
  return Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A client may choose the name of a property that every object has. */
const schemaOf = (schemas: Schemas, name: string): z.core.$ZodType | undefined =>
  Object.hasOwn(schemas, name) ? schemas[name] : undefined;

function plain(schema: z.core.$ZodType | undefined, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = innermost(schema);
  if (Array.isArray(value)) {
    const element = inner instanceof z.ZodArray ? inner.element : undefined;
    return value.map((one) => plain(element, one));
  }
  return members(inner instanceof z.ZodObject ? inner.shape : {}, value as Record<string, unknown>);
}

function isDefault(schema: z.core.$ZodType | undefined, value: unknown): boolean {
  const byDefault = schema && z.safeParse(schema, undefined);
  return byDefault?.success === true && JSON.stringify(byDefault.data) === JSON.stringify(value);
}

/** The schema of the given value, without what wraps it. */
function innermost(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return innermost(schema.def.innerType);
  return schema instanceof z.ZodPipe ? innermost(schema.def.in) : schema;
}
