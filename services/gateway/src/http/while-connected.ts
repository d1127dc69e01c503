import type { ServerResponse } from 'node:http';
import { withDeadline } from '@natter/service-kit';

/** Runs `work` until the client disconnects: then its calls are cancelled, including their statements in Postgres. */
export function whileConnected<R>(response: ServerResponse, ms: number, work: () => Promise<R>): Promise<R> {
  return withDeadline(ms, async (deadline) => {
    const hangUp = (): void => deadline.cancel();
    if (response.destroyed) hangUp();
    response.once('close', hangUp);
    try {
      return await work();
    } finally {
      response.off('close', hangUp);
    }
  });
}
