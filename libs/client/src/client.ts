import { type Operation, operationsByName, type Param, type Params, type Route } from '@natter/contracts';
import type { z } from 'zod';
import type { CallOptions, ClientOptions } from './client-options.ts';
import { encodeRequest } from './encode.ts';
import { send } from './send.ts';

type All = typeof operationsByName;

type Input<P extends Param> = z.input<P['schema']>;
/** A parameter of this name is a file: its bytes are sent as a part of a form. */
type Given<P extends Params, K extends keyof P> = K extends 'file' ? Blob : Input<P[K]>;
type OptionalNames<P extends Params> = {
  [K in keyof P]: undefined extends Input<P[K]> ? K : never;
}[keyof P];
type Inputs<P extends Params> = { [K in Exclude<keyof P, OptionalNames<P>>]: Given<P, K> } & {
  [K in OptionalNames<P>]?: Given<P, K> | undefined;
};
type Method<O> =
  O extends Operation<infer P, infer R>
    ? Record<never, never> extends Inputs<P>
      ? (params?: Inputs<P>, options?: CallOptions) => Promise<z.output<R>>
      : (params: Inputs<P>, options?: CallOptions) => Promise<z.output<R>>
    : never;

type HasMethod<O> = O extends { http: Route; protocol: undefined } ? true : false;
/** A method per operation that has a route, named as in the contract. Resumable uploads need a client of tus. */
export type Client = { [K in keyof All as HasMethod<All[K]> extends true ? K : never]: Method<All[K]> };

export function createClient(options: ClientOptions): Client {
  const methods = Object.entries(operationsByName as Record<string, Operation>)
    .filter(([, operation]) => operation.http !== undefined && operation.protocol === undefined)
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
