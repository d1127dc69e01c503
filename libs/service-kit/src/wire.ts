import {
  type Actor,
  type BusUser,
  badRequest,
  isStorableJson,
  type Operation,
  type RequestMeta,
} from '@natter/contracts';

/** The body of a request on the bus. */
export interface Envelope {
  actor: Actor | undefined;
  meta: RequestMeta;
  params: unknown;
}

export const errorHeader = 'Natter-Error';
/** Remaining time that the caller waits, in milliseconds. */
export const deadlineHeader = 'Natter-Deadline-Ms';
/** A question on the subject of cancellations: which of these requests does the process work on? */
export const askHeader = 'Natter-Ask';
/** In the answer to that question: a subject that only this process subscribes to. */
export const instanceHeader = 'Natter-Instance';
/** Id by which the caller may cancel the request. */
export const cancelHeader = 'Natter-Cancel-Id';
/** Id of a request; repetitions keep it. */
export const requestIdHeader = 'Natter-Request-Id';
/** How often a request was sent before. */
export const attemptHeader = 'Natter-Attempt';
/** Lag of the event loop of the answering process, in milliseconds. */
export const lagHeader = 'Natter-Lag-Ms';
/** The answering process and costs in it that no answer reports: `instance id:ms id:ms`, with the ids of realms. */
export const unreportedHeader = 'Natter-Unreported-Ms';
/** Cost of the answer, in milliseconds. The name is that of earlier releases, which counted CPU time alone. */
export const costHeader = 'Natter-Cpu-Ms';
export const traceHeader = 'traceparent';
/** Encodings that the caller understands beside plain bytes. */
export const knownHeader = 'Natter-Knows';

/** The name of a service on NATS, which lists the processes of each name and their endpoints. */
export const nameOnNats = (name: BusUser): string => `natter-${name}`;

/** Ends with the name of the caller, which NATS verifies. */
export const subjectOf = (operation: Pick<Operation, 'service' | 'name'>, caller: string): string =>
  `natter.${operation.service}.${operation.name}.${caller}`;

/** Endpoint of a write for callers that may repeat it. Only processes that store answers serve it. */
export const keyedName = (name: string): string => `${name}_keyed`;

/** Subject on which one process of a service accepts requests; `instance`: the subject of its blocks. */
export const directSubjectOf = (
  { service, name }: Pick<Operation, 'service' | 'name'>,
  instance: string,
  caller: string,
): string => `natter-at.${service}.${name}.${instance.slice(instance.lastIndexOf('.') + 1)}.${caller}`;

/** The operation of a request on such a subject. */
export const operationNameOf = (directSubject: string): string => directSubject.split('.')[2] ?? '';

/** Subject on which a caller cancels a request; the payload is the request's cancel id. */
export const cancelSubjectOf = (service: string, caller: string): string => `natter-cancel.${service}.${caller}`;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export const encodeJson = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

const textOf = (bytes: readonly Uint8Array[]): string =>
  decoder.decode(bytes.length === 1 ? bytes[0] : Buffer.concat(bytes));

export const decodeJson = (bytes: readonly Uint8Array[]): unknown => JSON.parse(textOf(bytes));

/** Refuses text that Postgres cannot store, wherever it comes from: it would fail the statements of other requests too. */
export function decodeEnvelope(bytes: readonly Uint8Array[]): Envelope {
  const json = textOf(bytes);
  if (!isStorableJson(json)) throw badRequest('The request contains text that cannot be stored');
  return JSON.parse(json) as Envelope;
}

/** Subject on which gateways exchange the recent cost of realms. */
export const usageSubject = 'natter.usage';
