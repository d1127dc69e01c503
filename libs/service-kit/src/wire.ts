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
/** On the subject of cancellations: which of these requests the process works on. */
export const askHeader = 'Natter-Ask';
/** Names a request that its caller may cancel. */
export const cancelHeader = 'Natter-Cancel-Id';
/** Names a request, also when it is sent again. */
export const requestIdHeader = 'Natter-Request-Id';
/** How often a request was sent before. */
export const attemptHeader = 'Natter-Attempt';
/** How late the event loop of the answering process is, in milliseconds. */
export const lagHeader = 'Natter-Lag-Ms';
export const traceHeader = 'traceparent';
/** What the caller can read beside plain bytes. */
export const knownHeader = 'Natter-Knows';

/** Ends with the name of the caller, which NATS verifies. */
export const subjectOf = (operation: Pick<Operation, 'service' | 'name'>, caller: string): string =>
  `natter.${operation.service}.${operation.name}.${caller}`;

/** Names the endpoint of a write for callers that may send it again. Only processes that store its answer serve this one. */
export const keyedName = (name: string): string => `${name}_keyed`;

/** Where a caller says that it no longer waits for a request; the payload is the request's cancel id. */
export const cancelSubjectOf = (service: string, caller: string): string => `natter-cancel.${service}.${caller}`;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export const encodeJson = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

export const decodeJson = (bytes: readonly Uint8Array[]): unknown =>
  JSON.parse(decoder.decode(bytes.length === 1 ? bytes[0] : Buffer.concat(bytes)));
