import { exampleOf, type Operation, operationsByName } from '@natter/contracts';

const address = 'https://chat.example.com';
const [email, key] = ['ada@example.com', 'API_KEY'];

export interface Sample {
  language: 'curl' | 'TypeScript' | 'Python';
  code: string;
}

/** The parts of an example request. */
interface Request {
  method: string;
  path: string;
  /** Fields of the query or of the form, with the values of the example. */
  fields: [name: string, value: unknown][];
  headers: [name: string, value: string][];
  hasFile: boolean;
  hasBytes: boolean;
  isPublic: boolean;
}

/** The example request of an operation as programs. Resumable uploads have no method of the client. */
export function samplesOf(operation: Operation): Sample[] {
  const request = requestOf(operation);
  return [
    { language: 'curl', code: curlOf(request) },
    ...(operation.protocol === undefined
      ? [{ language: 'TypeScript', code: typescriptOf(operation, request) } as const]
      : []),
    { language: 'Python', code: pythonOf(request) },
  ];
}

function requestOf(operation: Operation): Request {
  const { http, params, caller } = operation;
  const example = Object.entries(exampleOf(operation));
  const path = http?.path ?? '';
  const isInPath = (name: string): boolean => path.includes(`{${name}}`);
  const rest = example.filter(([name]) => !isInPath(name));
  return {
    method: http?.method ?? 'GET',
    path: example.reduce((url, [name, value]) => url.replace(`{${name}}`, encodeURIComponent(wire(value))), path),
    fields: rest.filter(([name]) => params[name]?.header === undefined),
    headers: rest.flatMap(([name, value]): [string, string][] => {
      const header = params[name]?.header;
      return header === undefined ? [] : [[header, wire(value)]];
    }),
    hasFile: Object.keys(params).includes('file') && http?.method !== 'GET',
    hasBytes: params.bytes !== undefined,
    isPublic: caller === 'public',
  };
}

/** A value as the server reads it: text as it is, everything else as JSON. */
const wire = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function curlOf({ method, path, fields, headers, hasFile, hasBytes, isPublic }: Request): string {
  const isQuery = method === 'GET';
  return [
    `curl ${isQuery && fields.length > 0 ? '-G' : `-X ${method}`} ${address}/api/v1${path}`,
    ...(isPublic ? [] : [`-u ${email}:${key}`]),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...fields.map(([name, value]) => `${hasFile ? '-F' : '--data-urlencode'} ${quoted(`${name}=${wire(value)}`)}`),
    ...(hasFile ? ['-F file=@picture.png'] : []),
    ...(hasBytes ? ["-H 'Content-Type: application/offset+octet-stream'", '--data-binary @picture.png'] : []),
  ].join(' \\\n  ');
}
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const methodNames = new Map(Object.entries<Operation>(operationsByName).map(([method, { name }]) => [name, method]));

function typescriptOf(operation: Operation, { hasFile, isPublic }: Request): string {
  const credentials = isPublic ? '' : `, email: '${email}', apiKey: '${key}'`;
  const params = Object.entries(exampleOf(operation)).map(([name, value]) => `${name}: ${literal(value)}`);
  const given = [...params, ...(hasFile ? ["file: await openAsBlob('picture.png')"] : [])];
  return [
    ...(hasFile ? ["import { openAsBlob } from 'node:fs';"] : []),
    "import { createClient } from '@natter-chat/client';",
    '',
    `const client = createClient({ url: '${address}'${credentials} });`,
    `const answer = await client.${methodNames.get(operation.name)}(${given.length > 0 ? `{ ${given.join(', ')} }` : ''});`,
    'console.log(answer);',
  ].join('\n');
}

/** A value as TypeScript writes it. */
function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, one]) => `${name}: ${literal(one)}`);
  return fields.length > 0 ? `{ ${fields.join(', ')} }` : '{}';
}

function pythonOf({ method, path, fields, headers, hasFile, hasBytes, isPublic }: Request): string {
  const isJson = fields.some(([, value]) => typeof value !== 'string' && typeof value !== 'number');
  const given = fields.map(([name, value]) => `        ${JSON.stringify(name)}: ${pythonField(value)},`);
  const type: [string, string][] = hasBytes ? [['Content-Type', 'application/offset+octet-stream']] : [];
  const sent = [...headers, ...type].map(
    ([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  return [
    ...(isJson ? ['import json', ''] : []),
    'import requests',
    '',
    `answer = requests.${method.toLowerCase()}(`,
    `    "${address}/api/v1${path}",`,
    ...(isPublic ? [] : [`    auth=("${email}", "${key}"),`]),
    ...(sent.length > 0 ? ['    headers={', ...sent, '    },'] : []),
    ...(given.length > 0 ? [`    ${method === 'GET' ? 'params' : 'data'}={`, ...given, '    },'] : []),
    ...(hasFile ? ['    files={"file": open("picture.png", "rb")},'] : []),
    ...(hasBytes ? ['    data=open("picture.png", "rb"),'] : []),
    ')',
    hasBytes || headers.length > 0 ? 'print(answer.status_code)' : 'print(answer.json())',
  ].join('\n');
}

const pythonField = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : `json.dumps(${pythonValue(value)})`;

/** A value as Python writes it. */
function pythonValue(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pythonValue(one)}`);
  return `{${fields.join(', ')}}`;
}
