import type { Msg } from '@nats-io/nats-core';
import { ChatError, needsActor, type Operation } from '@natter/contracts';
import { type Deadline, pause, untilDeadline } from '@natter/database';
import type { BusCall } from './answer-once.ts';
import type { Blocks } from './blocks.ts';
import { headerOf } from './bus-headers.ts';
import { attemptHeader, type Envelope, requestIdHeader } from './wire.ts';

/** NATS permissions prevent publishing under another caller's name. */
export const callerOf = (message: Msg): string => message.subject.slice(message.subject.lastIndexOf('.') + 1);

/** Callers of the previous release send no request id. */
export function callOf(message: Msg): BusCall | undefined {
  const id = headerOf(message, requestIdHeader);
  return id ? { id, attempt: Number(headerOf(message, attemptHeader) || 0) } : undefined;
}

/** How long to wait for another attempt, or for a caller that reconnects to NATS. */
const askAgainMs = 100;

/**
 * The bytes of a request. The parts of a large one are read from its newest attempt: a caller may have withdrawn those of
 * an attempt that counts as lost. Rejects only at the deadline, because the caller may not have sent its next attempt yet.
 */
export async function bodyOf(attempts: readonly [Msg, ...Msg[]], blocks: Blocks, deadline: Deadline) {
  for (;;) {
    const newest = attempts.at(-1) ?? attempts[0];
    const end = performance.now() + deadline.remainingMs();
    try {
      return await untilDeadline(
        blocks.read(newest, end).then((pieces) => blocks.fetch(pieces, end)),
        deadline,
      );
    } catch (error) {
      const isOver = !(error instanceof ChatError) || deadline.remainingMs() <= askAgainMs;
      if (isOver) throw error;
      if (newest === attempts.at(-1)) await pause(askAgainMs);
    }
  }
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
