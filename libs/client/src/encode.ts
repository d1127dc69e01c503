import type { Operation, Param } from '@natter/contracts';

export interface Encoded {
  method: string;
  /** Begins with `/api/v1`; for GET, it includes the query. */
  path: string;
  /** A form; multipart if a parameter is a file. */
  body: string | FormData | undefined;
}

/** Encodes parameters into path, query or form as the contract declares: text as it is, all others as JSON. */
export function encodeRequest({ http, params: declared, name }: Operation, params: Record<string, unknown>): Encoded {
  if (!http) throw new Error(`${name} has no route`);
  const left = { ...params };
  const path = http.path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = left[key];
    delete left[key];
    if (value === undefined) throw new Error(`${name} needs ${key}`);
    return encodeURIComponent(String(value));
  });
  const file = left.file instanceof Blob ? left.file : undefined;
  if (file) delete left.file;
  const fields = new URLSearchParams();
  for (const [key, value] of Object.entries(left))
    if (value !== undefined) fields.set(key, encode(declared[key], value));
  if (file) return { method: http.method, path: `/api/v1${path}`, body: formWith(fields, file) };
  const form = fields.toString();
  const isQuery = http.method === 'GET';
  return {
    method: http.method,
    path: `/api/v1${path}${isQuery && form !== '' ? `?${form}` : ''}`,
    body: isQuery ? undefined : form,
  };
}

/** The server and proxies limit the headers of a request, which contain its query. */
const maxTargetLength = 6_000;

/** Sends a long query as a form that names its method. The server accepts this of authenticated callers. */
export function withoutLongQuery(request: Encoded): Encoded {
  const { method, path } = request;
  const at = path.indexOf('?');
  if (method !== 'GET' || at < 0 || path.length <= maxTargetLength) return request;
  return { method: 'POST', path: path.slice(0, at), body: `${path.slice(at + 1)}&method=GET` };
}

function formWith(fields: URLSearchParams, file: Blob): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value);
  form.set('file', file);
  return form;
}

function encode(param: Param | undefined, value: unknown): string {
  if (typeof value !== 'string' || param?.encoding === 'json') return JSON.stringify(value);
  // The server would decode it: a channel named `2026` is not the channel with this ID.
  return param?.takesText && isJson(value) ? JSON.stringify(value) : value;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
