import {
  exampleOf,
  featureLevel,
  isDeprecated,
  meaningOf,
  type Operation,
  operations,
  type Param,
  streamsBody,
  tags,
  whoMayCall,
} from '@natter/contracts';
import { type NamedSchemas, namedSchemas } from './named-schemas.ts';
import { errorResponses, responseComponents, successResponses } from './open-api-responses.ts';
import { parameterSchema } from './open-api-schema.ts';

type Json = Record<string, unknown>;

const [formType, multipartType, jsonType] = [
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/json',
];

/** OpenAPI 3.1 of the HTTP API on the wire, generated from the contract. */
export function openApi(): Json {
  const paths: Record<string, Json> = {};
  const pathOfShape = new Map<string, string>();
  const named = namedSchemas();
  const { schemas, ...components } = responseComponents();
  for (const operation of operations) {
    const route = operation.http ?? operation.page;
    if (!route || operation.isAlias) continue;
    // Paths that differ only in parameter names are one path.
    const shape = route.path.replace(/\{\w+\}/g, '{}');
    const path = pathOfShape.get(shape) ?? route.path;
    pathOfShape.set(shape, path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: itemOf(operation, path, named) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Natter',
      summary: 'The HTTP API of the team-chat server Natter, compatible with Zulip clients.',
      description: [
        'Parameters are fields of a form, or of the query of a GET request; those of resumable uploads are headers. A field whose media type is `application/json` holds JSON text; every other field holds plain text.',
        'Requests are authenticated by HTTP Basic with the email address and the API key of a user or a bot. Pages of every origin may send them to `/api/v1`, which ignores cookies. Browsers with a session send them to `/json` instead of `/api/v1`, with the cookie of a session that `POST /accounts/login` began; requests that may change something repeat the cookie `csrftoken` in the header `X-CSRFToken`. Where the organization is reached by HTTPS, the names of both cookies begin with `__Host-`.',
        'A request that writes may carry an `Idempotency-Key`. The same request with the same key has its effect once and gets the first answer again.',
        'Requests spend the weight of their operation from a budget per user, organization and network; a 429 answer tells in `retry-after` how many seconds to wait.',
        'Events are described in `/asyncapi.json`.',
      ].join('\n\n'),
      version: String(featureLevel),
      contact: { name: 'Natter', url: 'https://github.com/natter-chat/natter' },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/api/v1', description: 'For clients with an API key.' },
      { url: '/json', description: 'For browsers with a session.' },
    ],
    tags: tags.map(({ name, description }) => ({ name, description })),
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'The email address and the API key of a user or a bot.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sessionid',
          description: 'The session of a browser. Only `/json` and files accept it.',
        },
        csrf: {
          type: 'apiKey',
          in: 'header',
          name: 'X-CSRFToken',
          description: 'The value of the cookie `csrftoken`, in requests with a session that are not GET or HEAD.',
        },
      },
      parameters: { IdempotencyKey: idempotencyKey },
      ...components,
      schemas: { ...(schemas as Json), ...named.components },
    },
    paths,
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Names this request. Sent again with the same key within a day, the request gets the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** `path` contains the names of the path parameters. */
function itemOf(operation: Operation, path: string, named: NamedSchemas): Json {
  const { http, page, name, summary } = operation;
  const method = (http ?? page)?.method ?? 'GET';
  const fields = method === 'GET' ? {} : streamsBody(operation) ? fileBodyOf(operation) : bodyOf(operation);
  return {
    operationId: name,
    summary: summary.replace(/\.$/, ''),
    description: descriptionOf(operation),
    ...(isDeprecated(summary) ? { deprecated: true } : {}),
    tags: tags.filter((tag) => tag.operations.has(operation)).map((tag) => tag.name),
    security: securityOf(operation),
    'x-callers': callersOf(operation),
    parameters: [
      ...Object.entries(operation.params)
        .filter(([key, param]) => method === 'GET' || isInPath(operation, key) || param.header !== undefined)
        .map(([key, param]) => parameterOf(operation, key, param, path)),
      ...(operation.isReadOnly ? [] : [{ $ref: '#/components/parameters/IdempotencyKey' }]),
    ],
    ...fields,
    responses: named.refer({ ...successResponses(operation), ...errorResponses(operation) }),
    // A page is outside the API's base path.
    ...(page ? { servers: [{ url: '/' }] } : {}),
  };
}

function descriptionOf(operation: Operation): string {
  const { weight, events } = operation;
  return [
    whoMayCall(operation),
    weight > 1 ? `It weighs as much as ${weight} requests against the rate limit.` : '',
    operation.weigh ? 'Its weight grows with its parameters.' : '',
    operation.sparesRealm ? 'It does not count against the budget of the organization.' : '',
    events.length > 0 ? `Events: ${events.map((type) => `\`${type}\``).join(', ')}.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
const isInPath = ({ http, page }: Operation, key: string): boolean => ((http ?? page)?.path ?? '').includes(`{${key}}`);
const isFile = (operation: Operation, key: string): boolean =>
  operation.params[key]?.encoding === 'file' || (key === 'file' && operation.http?.method !== 'GET');

function parameterOf(operation: Operation, key: string, param: Param, path: string): Json {
  const { description, ...schema } = parameterSchema(key, param);
  const inPath = isInPath(operation, key);
  const at = namesIn((operation.http ?? operation.page)?.path ?? '').indexOf(key);
  const isText = inPath || !isJson(param, schema);
  const values = exampleOf(operation);
  const example = key in values ? { example: values[key] } : {};
  return {
    name: inPath ? namesIn(path)[at] : (param.header ?? key),
    in: inPath ? 'path' : param.header !== undefined ? 'header' : 'query',
    required: inPath || param.required,
    description: describeParameter(param, description),
    ...(isDeprecated(description) ? { deprecated: true } : {}),
    ...(isText ? { schema, ...example } : { content: { [jsonType]: { schema, ...example } } }),
  };
}

/** Bytes of a file, which a request that begins an upload may leave out. */
const fileBodyOf = ({ params }: Operation): Json => ({
  requestBody: {
    required: params.bytes !== undefined,
    description: 'The next bytes of the file.',
    content: { 'application/offset+octet-stream': { schema: { type: 'string', format: 'binary' } } },
  },
});

function bodyOf(operation: Operation): Json {
  const entries = Object.entries(operation.params).filter(([key]) => !isInPath(operation, key));
  if (entries.length === 0) return {};
  const hasFile = entries.some(([key]) => isFile(operation, key));
  const required = entries.filter(([, param]) => param.required).map(([key]) => key);
  const values = exampleOf(operation);
  const properties: Record<string, Json> = {};
  const encoding: Record<string, Json> = {};
  for (const [key, param] of entries) {
    const { description, ...schema } = parameterSchema(key, param);
    const isBinary = isFile(operation, key);
    properties[key] = isBinary
      ? { type: 'string', format: 'binary', description: meaningOf(key) }
      : {
          ...(hasFile && key in values ? { examples: [values[key]] } : {}),
          ...schema,
          description: describeParameter(param, description),
          ...(isDeprecated(description) ? { deprecated: true } : {}),
        };
    if (!isBinary && isJson(param, schema)) encoding[key] = { contentType: jsonType };
  }
  const schema = {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
  return {
    requestBody: {
      ...(required.length > 0 ? { required: true } : {}),
      content: {
        [hasFile ? multipartType : formType]: {
          schema,
          ...(Object.keys(encoding).length > 0 ? { encoding } : {}),
          ...(hasFile ? {} : { example: exampleBody(operation) }),
        },
      },
    },
  };
}

/** The part of an example request that is not in the path. */
const exampleBody = (operation: Operation): Json =>
  Object.fromEntries(Object.entries(exampleOf(operation)).filter(([key]) => !isInPath(operation, key)));

/** Whether a generator has to encode a value as JSON. Numbers and booleans are identical as plain text. */
function isJson({ encoding }: Param, schema: Json): boolean {
  return encoding !== 'text' && !isScalar(schema);
}

function isScalar({ type, anyOf, const: value }: Json): boolean {
  if (Array.isArray(anyOf)) return anyOf.every((one) => isScalar(one as Json));
  return ['integer', 'number', 'boolean', 'null'].includes(String(type)) || typeof value === 'number';
}

function describeParameter({ aliases }: Param, meaning: unknown): string {
  return [
    typeof meaning === 'string' ? meaning : '',
    aliases.length > 0 ? `Also accepted as ${aliases.map((alias) => `\`${alias}\``).join(', ')}.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

const basic = { basic: [] };
const sessionOf = ({ http, page }: Operation) =>
  (http ?? page)?.method === 'GET' ? { session: [] } : { session: [], csrf: [] };
/** The security requirements of an operation. An empty requirement means that authentication is optional. */
function securityOf(operation: Operation): object[] {
  const { caller, session } = operation;
  if (caller === 'public') return [];
  if (session !== undefined) return [sessionOf(operation)];
  return [...(caller === 'spectator' ? [{}] : []), basic, sessionOf(operation)];
}

const callersOf = ({ caller, role, permission, isForWriteOnly }: Operation): Json => ({
  caller,
  ...(role ? { minimumRole: role } : {}),
  ...(permission ? { permission } : {}),
  incomingWebhooks: isForWriteOnly,
});
