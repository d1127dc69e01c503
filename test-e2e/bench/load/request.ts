import { authorizationOf } from '../../api.ts';

/** A request of the API before it is encoded. `%NOW%` and `%CARRY%` in the path or body are replaced per request. */
export interface RequestSpec {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  host: string;
  authorization?: string;
  body?: string;
  /** The content type of a body that is not a urlencoded form. */
  contentType?: string;
}

/** Method and path, such as `POST /messages`. */
export type Route = `${RequestSpec['method']} ${string}`;

export interface Identity {
  email: string;
  api_key: string;
  user_id: number;
}

export type Form = Record<string, unknown>;

/** Strings as they are, all other values as JSON. */
export const formOf = (form: Form): string =>
  new URLSearchParams(
    Object.entries(form)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
    .toString()
    // Placeholders must survive the encoding.
    .replaceAll(/%25(NOW|CARRY)%25/g, '%$1%');

export function apiRequest(host: string, who: Identity | undefined, route: Route, form: Form = {}): RequestSpec {
  const method = route.slice(0, route.indexOf(' ')) as RequestSpec['method'];
  const path = route.slice(method.length + 1);
  const fields = formOf(form);
  const isQuery = method === 'GET';
  return {
    method,
    path: `/api/v1${path}${isQuery && fields ? `?${fields}` : ''}`,
    host,
    ...(who ? { authorization: authorizationOf(who) } : {}),
    ...(isQuery ? {} : { body: fields }),
  };
}

/** The final text, unless placeholders must be replaced. */
export function textOf(spec: RequestSpec, fill: (template: string) => string = (template) => template): string {
  const body = spec.body === undefined ? '' : fill(spec.body);
  const lines = [
    `${spec.method} ${fill(spec.path)} HTTP/1.1`,
    `Host: ${spec.host}`,
    'User-Agent: natter-bench/1',
    ...(spec.authorization ? [`Authorization: ${spec.authorization}`] : []),
    ...(spec.body === undefined
      ? []
      : [
          `Content-Type: ${spec.contentType ?? 'application/x-www-form-urlencoded'}`,
          `Content-Length: ${Buffer.byteLength(body)}`,
        ]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

export const isTemplate = (spec: RequestSpec): boolean => /%(NOW|CARRY)%/.test(spec.path + (spec.body ?? ''));
