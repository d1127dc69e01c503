import type { Msg } from '@nats-io/nats-core';
import { needsActor, type Operation } from '@natter/contracts';
import type { BusCall } from './answer-once.ts';
import { attemptHeader, type Envelope, requestIdHeader } from './wire.ts';

/** NATS permissions prevent publishing under another caller's name. */
export const callerOf = (message: Msg): string => message.subject.split('.').at(-1) ?? '';

/** Callers of the previous release send no request id. */
export function callOf({ headers }: Msg): BusCall | undefined {
  const id = headers?.get(requestIdHeader);
  return id ? { id, attempt: Number(headers?.get(attemptHeader) || 0) } : undefined;
}

/**
 * Only the gateway authenticates users. Internal operations may be called on behalf of the actor of another request.
 */
export function checkCaller(message: Msg, operation: Operation, { actor }: Envelope): void {
  const caller = callerOf(message);
  if (actor && operation.caller !== 'internal' && caller !== 'gateway')
    throw new Error(`${caller} called ${operation.name} on behalf of a user`);
  if (!actor && needsActor(operation)) throw new Error(`${caller} called ${operation.name} without an actor`);
  if (!operation.callers.some((allowed) => allowed === caller))
    throw new Error(`${caller} may not call ${operation.name}`);
}
