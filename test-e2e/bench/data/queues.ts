import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import type { Form, Identity } from '../load/request.ts';
import { apiRequest } from '../load/request.ts';

export interface LiveQueue {
  queueId: string;
  lastEventId: number;
  host: string;
  authorization: string;
}

/** Registers a queue per user, for messages only, without any state. */
export function registerQueues(
  bench: Bench,
  host: string,
  people: readonly Identity[],
  form: Form = {},
): Promise<LiveQueue[]> {
  return inParallel(people, 32, async (who) => {
    const state = await bench.api.call(host, who, 'POST /register', {
      event_types: ['message'],
      fetch_event_types: [],
      apply_markdown: true,
      idle_queue_timeout: 3_600,
      ...form,
    });
    return {
      queueId: state.queue_id,
      lastEventId: state.last_event_id,
      host,
      authorization: apiRequest(host, who, 'GET /').authorization ?? '',
    };
  });
}
