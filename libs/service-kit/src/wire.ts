import type { Actor, Operation, RequestMeta } from '@natter/contracts';

/** The body of a request on the bus. */
export interface Envelope {
  actor: Actor | undefined;
  meta: RequestMeta;
  params: unknown;
}

export const errorHeader = 'Natter-Error';
/** Time that the caller still waits, in milliseconds. */
export const deadlineHeader = 'Natter-Deadline-Ms';
/** Names a request that its caller may cancel. */
export const cancelHeader = 'Natter-Cancel-Id';
export const traceHeader = 'traceparent';
/** What the caller can read beside plain bytes. */
export const knownHeader = 'Natter-Knows';

/** Ends with the name of the caller, which NATS verifies. */
export const subjectOf = (operation: Pick<Operation, 'service' | 'name'>, caller: string): string =>
  `natter.${operation.service}.${operation.name}.${caller}`;

/** Where a caller says that it no longer waits for a request; the payload is the request's cancel id. */
export const cancelSubjectOf = (service: string, caller: string): string => `natter-cancel.${service}.${caller}`;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export const encodeJson = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

export const decodeJson = (bytes: readonly Uint8Array[]): unknown =>
  JSON.parse(decoder.decode(bytes.length === 1 ? bytes[0] : Buffer.concat(bytes)));
