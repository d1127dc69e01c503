import { type Operation, operationsByName, type Param, type Params, type Route } from '@natter/contracts';
import type { z } from 'zod';
import { encodeRequest } from './encode.ts';
import { send } from './send.ts';

type All = typeof operationsByName;

type Input<P extends Param> = z.input<P['schema']>;
type OptionalNames<P extends Params> = {
  [K in keyof P]: undefined extends Input<P[K]> ? K : never;
}[keyof P];
type Inputs<P extends Params> = { [K in Exclude<keyof P, OptionalNames<P>>]: Input<P[K]> } & {
  [K in OptionalNames<P>]?: Input<P[K]> | undefined;
};
type Method<O> =
  O extends Operation<infer P, infer R>
    ? Record<never, never> extends Inputs<P>
      ? (params?: Inputs<P>, options?: CallOptions) => Promise<z.output<R>>
      : (params: Inputs<P>, options?: CallOptions) => Promise<z.output<R>>
    : never;

/** A method per operation that has a route, named as in the contract. */
export type Client = { [K in keyof All as All[K]['http'] extends Route ? K : never]: Method<All[K]> };

export interface ClientOptions {
  /** Address of the server, without `/api/v1`. */
  url: string;
  /** Absent for operations that need no authentication. */
  email?: string;
  apiKey?: string;
  /** Sent as User-Agent; what comes before a slash is the client's name on messages. */
  userAgent?: string;
  /** How long a request that may be repeated is repeated. */
  retryForMs?: number;
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Given again, the same request has its effect once, also from another process. */
  idempotencyKey?: string;
}

export function createClient(options: ClientOptions): Client {
  const methods = Object.entries(operationsByName as Record<string, Operation>)
    .filter(([, operation]) => operation.http !== undefined)
    .map(([name, operation]) => [
      name,
      (params: Record<string, unknown> = {}, call: CallOptions = {}) =>
        send(options, encodeRequest(operation, params), {
          ...call,
          isReadOnly: operation.isReadOnly,
          deadlineMs: operation.deadlineMs,
        }),
    ]);
  return Object.fromEntries(methods) as Client;
}
