import { errorStatus, featureLevel, limitOf, maxUnits, operations, type Param } from '@natter/contracts';
import { z } from 'zod';

const form = 'application/x-www-form-urlencoded';

/** OpenAPI 3.1, made from the contract. */
export function openApi(): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { http, page, name, summary, params, result, errors, caller } of operations) {
    const route = http ?? page;
    if (!route) continue;
    const properties = Object.fromEntries(
      Object.entries(params).map(([key, param]) => [
        key,
        param.encoding === 'file' ? { type: 'string', format: 'binary' } : parameterSchema(param),
      ]),
    );
    const required = Object.entries(params)
      .filter(([, param]) => param.required)
      .map(([key]) => key);
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
    const query = route.method === 'GET';
    const takesFile = Object.values(params).some((param) => param.encoding === 'file');
    const item = {
      operationId: name,
      summary,
      security: caller === 'user' ? [{ basic: [] }] : [],
      parameters: Object.entries(properties)
        .filter(([key]) => query || inPath.includes(key))
        .map(([key, schema]) => ({
          name: key,
          in: inPath.includes(key) ? 'path' : 'query',
          required: inPath.includes(key) || required.includes(key),
          schema,
        })),
      ...(query
        ? {}
        : {
            requestBody: {
              content: {
                [takesFile ? 'multipart/form-data' : form]: { schema: { type: 'object', properties, required } },
              },
            },
          }),
      responses: {
        200: {
          description: 'Success',
          content: http ? { 'application/json': { schema: jsonSchema(result) } } : { '*/*': {} },
        },
        ...Object.fromEntries(errors.map((code) => [errorStatus[code], { description: code }])),
      },
    };
    // A page stands outside the API.
    const at = page ? { servers: [{ url: '/' }] } : {};
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: { ...item, ...at } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Natter', version: String(featureLevel) },
    servers: [{ url: '/api/v1' }],
    components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
    paths,
  };
}

/** With every bound: of its parts in the words of JSON Schema, and of the whole text of the field. */
function parameterSchema(param: Param): unknown {
  const schema = z.toJSONSchema(param.schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      const [maxProperties, characters, depth] = ['maxProperties', 'characters', 'depth'].map((name) =>
        limitOf(def, name),
      );
      if (maxProperties !== undefined) jsonSchema.maxProperties = maxProperties;
      if (characters !== undefined) Object.assign(jsonSchema, { 'x-max-length': characters, 'x-max-depth': depth });
    },
  });
  const isJson = param.encoding !== 'text';
  return {
    ...schema,
    'x-max-length': maxUnits(param),
    ...(isJson ? { 'x-encoding': param.encoding, 'x-max-depth': param.bound.depth } : {}),
  };
}

const jsonSchema = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
