import type { Operation, Param } from '@natter/contracts';

export interface Encoded {
  method: string;
  /** With `/api/v1` and, for GET, the query. */
  path: string;
  body: string | undefined;
}

/** Parameters to path, query or form, as the contract says: text raw, all else JSON text. */
export function encodeRequest({ http, params: declared, name }: Operation, params: Record<string, unknown>): Encoded {
  if (!http) throw new Error(`${name} has no route`);
  const left = { ...params };
  const path = http.path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = left[key];
    delete left[key];
    if (value === undefined) throw new Error(`${name} needs ${key}`);
    return encodeURIComponent(String(value));
  });
  const fields = new URLSearchParams();
  for (const [key, value] of Object.entries(left))
    if (value !== undefined) fields.set(key, encode(declared[key], value));
  const form = fields.toString();
  const isQuery = http.method === 'GET';
  return {
    method: http.method,
    path: `/api/v1${path}${isQuery && form !== '' ? `?${form}` : ''}`,
    body: isQuery ? undefined : form,
  };
}

function encode(param: Param | undefined, value: unknown): string {
  const isRaw = typeof value === 'string' && param?.encoding !== 'json';
  return isRaw ? value : JSON.stringify(value);
}
