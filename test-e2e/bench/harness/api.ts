import { type Address, Connection } from '../load/connection.ts';
import { apiRequest, type Form, type Identity, type Route, textOf } from '../load/request.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are picked apart by the scenarios.
type Json = any;

/** Requests that prepare a scenario; they are not measured. */
export interface Api {
  call(host: string, who: Identity | undefined, route: Route, form?: Form): Promise<Json>;
}

export function createApi(address: () => Address): Api {
  let free: Connection[] = [];
  let port = 0;
  return {
    async call(host, who, route, form = {}) {
      const at = address();
      // The system was restarted.
      if (at.port !== port) free = [];
      port = at.port;
      const connection = free.pop() ?? new Connection(at);
      let isBroken = true;
      try {
        const reply = await connection.exchange(textOf(apiRequest(host, who, route, form)));
        isBroken = false;
        const text = reply.body.toString('utf8');
        if (reply.status !== 200) throw new Error(`${route}: ${reply.status} ${text.slice(0, 500)}`);
        return JSON.parse(text);
      } finally {
        if (!isBroken) free.push(connection);
      }
    },
  };
}

/** Runs `work` for each item, a limited number at a time, in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await work(items[index] as T, index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  return results;
}
