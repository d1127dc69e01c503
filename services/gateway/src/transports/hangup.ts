import type { ServerResponse } from 'node:http';
import type { Hangup } from '../queues/polls.ts';

export const hangupOf = (response: ServerResponse): Hangup => ({
  get isOver() {
    return response.closed || response.destroyed;
  },
  onOver: (listener) => {
    response.once('close', listener);
    return () => response.off('close', listener);
  },
});
