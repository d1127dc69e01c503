import { describeFields, limitOf, maxUnits, meaningOf, type Param } from '@natter/contracts';
import { z } from 'zod';

type Json = Record<string, unknown>;

/**
 * The JSON Schema of a parameter with every bound: those of its parts as JSON Schema keywords, and those of the whole
 * field.
 */
export function parameterSchema(name: string, param: Param): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(param.schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      const [maxProperties, characters, depth] = ['maxProperties', 'characters', 'depth'].map((name) =>
        limitOf(def, name),
      );
      toPortable(jsonSchema);
      if (maxProperties !== undefined) jsonSchema.maxProperties = maxProperties;
      if (characters !== undefined) Object.assign(jsonSchema, { 'x-max-length': characters, 'x-max-depth': depth });
    },
  });
  describeFields(schema);
  const isJson = param.encoding !== 'text';
  const description = schema.description ?? meaningOf(name);
  return {
    ...schema,
    ...(description === undefined ? {} : { description }),
    'x-max-length': maxUnits(param),
    ...(isJson ? { 'x-encoding': param.encoding, 'x-max-depth': param.bound.depth } : {}),
  };
}

/** The JSON Schema of a value that the server sends. */
export function resultSchema(result: z.ZodType): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(result, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => toPortable(jsonSchema),
  });
  describeFields(schema);
  return schema;
}

/** Writes a schema in the form that generators of clients understand; it means the same. */
function toPortable(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.prefixItems) {
    const { length } = schema.prefixItems;
    const kinds = new Map(schema.prefixItems.map((item) => [JSON.stringify(item), item]));
    const items = kinds.size === 1 ? schema.prefixItems[0] : { anyOf: [...kinds.values()] };
    Object.assign(schema, { items: structuredClone(items), minItems: length, maxItems: length });
  }
  if (typeof schema.const === 'number' && schema.const < 0) {
    Object.assign(schema, { type: 'integer', minimum: schema.const, maximum: schema.const });
    delete schema.const;
  }
}
