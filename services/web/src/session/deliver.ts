import { ApiError, type Client, OutcomeUnknown } from '@natter/client';
import type { Action, Outgoing } from '../state/state.ts';
import { notConfirmed } from './outbox-store.ts';
import { problemOf } from './problem.ts';
import { targetOf } from './target.ts';

/** Sends a message until its outcome is certain, or it is too old to be sent again. Undefined if it waits for a login. */
export async function deliver(client: Client, outgoing: Outgoing): Promise<Action | undefined> {
  const { id, place, content, queueId, at } = outgoing;
  try {
    const sent = await client.sendMessage(
      { ...targetOf(place), content, queue_id: queueId, local_id: id, read_by_sender: true },
      { idempotencyKey: id, firstSentAt: at, retryForMs: Number.POSITIVE_INFINITY },
    );
    return { type: 'sent', id, sentAs: sent.id };
  } catch (error) {
    // Without the session the message waits: the page of the next login sends it under the same key.
    if (error instanceof ApiError && (error.status === 401 || error.code === 'CSRF_FAILED')) return undefined;
    return { type: 'refused', id, problem: error instanceof OutcomeUnknown ? notConfirmed() : problemOf(error) };
  }
}
