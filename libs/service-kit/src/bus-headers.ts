import type { Msg, MsgHdrs } from '@nats-io/nats-core';
import { MsgHdrsImpl } from '@nats-io/nats-core/internal';

/**
 * Headers of messages. `get` and `set` of the library build lists of all names for each value, which is a large part of
 * what a call allocates. Names are compared exactly.
 */
export const createHeaders = (): MsgHdrs => new MsgHdrsImpl();

export function setHeader(headers: MsgHdrs, name: string, value: string): void {
  if (/[\r\n]/.test(value)) throw new Error(`The header ${name} has more than one line`);
  mapOf(headers)?.set(name, [value]);
}

/** The first value of the header, or an empty string. */
export const headerOf = ({ headers }: Pick<Msg, 'headers'>, name: string): string =>
  mapOf(headers)?.get(name)?.[0] ?? '';

const mapOf = (headers: MsgHdrs | undefined): Map<string, string[]> | undefined =>
  headers instanceof MsgHdrsImpl ? headers.headers : undefined;
