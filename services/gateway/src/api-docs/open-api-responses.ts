import { type ErrorCode, errorCauses, errorStatus, exampleOfSchema, type Operation } from '@natter/contracts';
import { resultSchema } from './open-api-schema.ts';

type Json = Record<string, unknown>;

const json = (schema: Json, example?: Json): Json => ({
  'application/json': { schema, ...(example ? { example } : {}) },
});
const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

interface Shared {
  status: number;
  codes: readonly ErrorCode[];
  description: string;
  retryAfter?: true;
}

/** Responses that any operation may give beside its own errors, by name, with their status. */
const shared: Record<string, Shared> = {
  Unauthorized: {
    status: 401,
    codes: ['UNAUTHORIZED', 'INVALID_API_KEY', 'USER_DEACTIVATED', 'REALM_DEACTIVATED'],
    description: 'The credentials are missing or wrong, or the account or the organization is deactivated.',
  },
  Forbidden: {
    status: 403,
    codes: ['CSRF_FAILED'],
    description:
      'A request with a session comes from another site, or does not repeat the token of the cookie `csrftoken`.',
  },
  NotFound: {
    status: 404,
    codes: ['BAD_REQUEST', 'NOT_FOUND', 'NONEXISTENT_SUBDOMAIN'],
    description: 'The object, the path or the organization does not exist, or the caller may not see it.',
  },
  TooLarge: {
    status: 413,
    codes: ['REQUEST_TOO_LARGE'],
    description: 'The request is larger than the server accepts.',
  },
  KeyReused: {
    status: 422,
    codes: ['IDEMPOTENCY_KEY_REUSED'],
    description: 'The Idempotency-Key was used for another request.',
  },
  RateLimited: {
    status: 429,
    codes: ['RATE_LIMIT_HIT'],
    description: 'The caller has to wait. The field and the header `retry-after` tell for how many seconds.',
    retryAfter: true,
  },
  InternalError: { status: 500, codes: ['INTERNAL_ERROR'], description: 'The server failed.' },
  Unavailable: {
    status: 503,
    codes: ['SERVICE_UNAVAILABLE'],
    description: 'The server is busy or a part of it is away. Send the request again after `retry-after` seconds.',
    retryAfter: true,
  },
};

export function responseComponents(): Json {
  return {
    headers: {
      RetryAfter: { description: 'Seconds to wait before the next request.', schema: { type: 'number', minimum: 0 } },
    },
    schemas: {
      Error: {
        type: 'object',
        description: 'A refusal. Some codes come with further fields.',
        properties: {
          result: { type: 'string', const: 'error', description: 'The request failed.' },
          msg: { type: 'string', description: 'The reason, for people.' },
          code: { type: 'string', description: 'The reason, for programs.', enum: Object.keys(errorStatus) },
        },
        required: ['result', 'msg', 'code'],
        additionalProperties: true,
      },
    },
    responses: Object.fromEntries(Object.entries(shared).map(([name, one]) => [name, sharedResponse(one)])),
  };
}

function sharedResponse({ codes, description, retryAfter }: Shared): Json {
  return {
    description: `${description} ${codeList(codes)}`,
    content: json(ref('schemas', 'Error'), exampleOfError(codes, retryAfter)),
    ...(retryAfter ? { headers: { 'Retry-After': ref('headers', 'RetryAfter') } } : {}),
  };
}

const exampleOfError = ([code]: readonly ErrorCode[], retryAfter?: true): Json => ({
  result: 'error',
  msg: 'The reason, for people',
  code,
  ...(retryAfter ? { 'retry-after': 2 } : {}),
});

const codeList = (codes: readonly ErrorCode[]): string =>
  `Codes: ${codes.map((code) => `\`${code}\` (${errorCauses[code]})`).join(', ')}.`;

/** Pages and their errors are text, not JSON. */
const texts = { 'text/html': { schema: { type: 'string' } }, 'text/plain': { schema: { type: 'string' } } };
const redirect = {
  description: 'The picture is at the address in the header `Location`.',
  headers: { Location: { description: 'The address of the picture.', schema: { type: 'string' } } },
};

const changesSession = ({ session }: Operation): boolean => session === 'begins' || session === 'ends';

/** The cookies of a session that begins or ends. */
const leads = {
  description: 'The cookies are set, and the next page is at the address in the header `Location`.',
  headers: {
    Location: { description: 'The path of the next page.', schema: { type: 'string' } },
    'Set-Cookie': {
      description: 'The cookies `sessionid` and `csrftoken`, or their removal.',
      schema: { type: 'string' },
    },
  },
};

export function successResponses(operation: Operation): Json {
  const { http, page, result } = operation;
  if (changesSession(operation)) return { 303: leads };
  if (operation.protocol === 'tus') return tusResponses(operation);
  const own = http ? successResponse(result) : { description: 'The page or the file.', content: { '*/*': {} } };
  return { 200: own, ...(page?.isRedirect ? { 302: redirect } : {}) };
}

const tusHeaders = Object.fromEntries(
  Object.entries({
    'Tus-Resumable': 'The version of the protocol: 1.0.0.',
    'Upload-Offset': 'How many bytes of the file the server has.',
    'Upload-Expires': 'When the upload expires, until it is complete.',
  }).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
);
const uploadAddress = { description: 'The address of the upload.', schema: { type: 'string' } };

/** The state of an upload is in headers, and for methods whose answers usually have a body also in the body. */
function tusResponses({ http, result }: Operation): Json {
  const success = { ...successResponse(result), headers: tusHeaders };
  switch (http?.method) {
    case 'POST':
      return { 201: { ...success, headers: { ...tusHeaders, Location: uploadAddress } } };
    case 'PATCH':
      return { 200: success, 204: { description: 'The bytes were stored, and more follow.', headers: tusHeaders } };
    case 'DELETE':
      return { 204: { description: 'The upload ended.' } };
    default:
      return { 200: success };
  }
}

function successResponse(result: Operation['result']): Json {
  const own = resultSchema(result);
  const envelope = {
    result: { type: 'string', const: 'success', description: 'The request succeeded.' },
    msg: { type: 'string', description: 'Empty.' },
    ignored_parameters_unsupported: {
      type: 'array',
      items: { type: 'string' },
      description: 'Parameters of the request that the operation does not have.',
    },
  };
  const required = ['result', 'msg'];
  const schema =
    own.type === 'object'
      ? {
          ...own,
          properties: { ...envelope, ...(own.properties as Json) },
          required: [...new Set([...required, ...((own.required as string[] | undefined) ?? [])])],
        }
      : { allOf: [{ type: 'object', properties: envelope, required }, own] };
  const example = { result: 'success', msg: '', ...(exampleOfSchema(own) as Json) };
  return { description: 'Success.', content: json(schema, example) };
}

/** One response for each status; codes with the same status share it. */
export function errorResponses(operation: Operation): Json {
  const { http, page, params, caller, isReadOnly, errors } = operation;
  const path = (http ?? page)?.path ?? '';
  const isRequired = Object.values(params).some(({ required }) => required);
  const own = new Set<ErrorCode>([
    'BAD_REQUEST',
    ...(isRequired ? (['REQUEST_VARIABLE_MISSING'] as const) : []),
    ...errors,
  ]);
  const names = new Set(['TooLarge', 'RateLimited', 'InternalError', 'Unavailable']);
  if (caller !== 'public') names.add('Unauthorized');
  if (http || changesSession(operation)) names.add('Forbidden');
  if (path.includes('{') || page) names.add('NotFound');
  if (!isReadOnly) names.add('KeyReused');
  const responses = new Map<number, Json>();
  for (const [name, { status, codes }] of Object.entries(shared)) {
    if (names.has(name)) responses.set(status, ref('responses', name));
    // The shared response already lists them.
    for (const code of codes) if (names.has(name) && errorStatus[code] === status) own.delete(code);
  }
  for (const status of new Set([...own].map((code) => errorStatus[code]))) {
    const among = names.has(nameOf(status) ?? '') ? (shared[nameOf(status) ?? '']?.codes ?? []) : [];
    const codes = [...new Set([...among, ...[...own].filter((code) => errorStatus[code] === status)])];
    responses.set(status, {
      description: codeList(codes),
      content: json(
        {
          allOf: [
            ref('schemas', 'Error'),
            { type: 'object', properties: { code: { enum: codes, description: 'The reason, for programs.' } } },
          ],
        },
        exampleOfError(codes),
      ),
    });
  }
  if (page)
    for (const status of [400, 404, ...(operation.session === 'begins' ? [401] : [])])
      responses.set(status, withTexts(status, responses.get(status) ?? {}));
  return Object.fromEntries([...responses].sort(([a], [b]) => a - b));
}

/** A reference cannot be extended, so the shared response is repeated. */
function withTexts(status: number, response: Json): Json {
  const name = nameOf(status);
  const { content, ...rest } = response.content || !name || !shared[name] ? response : sharedResponse(shared[name]);
  return { ...rest, content: { ...(content as Json), ...texts } };
}

const nameOf = (status: number): string | undefined =>
  Object.entries(shared).find(([, one]) => one.status === status)?.[0];
