import { type Credentials, request } from './api.ts';

/** Follows one queue through all faults. It never registers again: the loss of its queue is recorded as a failure. */
export interface Follower {
  messageIds: number[];
  contents: string[];
  lost: string | undefined;
  /** Polls that were not answered with 200. */
  failures: string[];
  /** Between two answers, or from the last one until now. */
  longestWaitMs(): number;
  stop(): void;
}

export async function follow(
  url: string,
  who: Credentials,
  headers: Record<string, string> = {},
  eventTypes = ['message'],
): Promise<Follower> {
  const registered = await register(url, who, eventTypes);
  if (registered.status !== 200) throw new Error(`register: ${JSON.stringify(registered.body)}`);
  const { queue_id, last_event_id } = registered.body;
  let isStopped = false;
  let answeredAt = Date.now();
  let longest = 0;
  const longestWaitMs = (): number => Math.max(longest, isStopped ? 0 : Date.now() - answeredAt);
  const follower: Follower = { messageIds: [], contents: [], lost: undefined, failures: [], longestWaitMs, stop };
  function stop(): void {
    isStopped = true;
  }
  let cursor = Number(last_event_id);
  void (async () => {
    while (!isStopped) {
      try {
        const { status, body } = await request(url, { ...who, headers }, 'GET /events', {
          queue_id,
          last_event_id: cursor,
        });
        if (body.code === 'BAD_EVENT_QUEUE_ID') {
          follower.lost = JSON.stringify(body);
          return;
        }
        if (status !== 200) throw new Error(String(status));
        longest = longestWaitMs();
        answeredAt = Date.now();
        for (const event of body.events) {
          if (event.id <= cursor) continue;
          cursor = event.id;
          if (event.type !== 'message') continue;
          follower.messageIds.push(event.message.id);
          follower.contents.push(event.message.content);
        }
      } catch (error) {
        if (!isStopped) follower.failures.push(describe(error));
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
      }
    }
  })();
  return follower;
}

/** A busy system may reply 503 before there is a queue; afterwards that counts as a failure. */
async function register(url: string, who: Credentials, eventTypes: string[]): ReturnType<typeof request> {
  for (const deadline = Date.now() + 60_000; ; ) {
    const answer = await request(url, who, 'POST /register', {
      event_types: eventTypes,
      fetch_event_types: eventTypes,
    });
    if (answer.status !== 503 || Date.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** The message of a request's error, with the cause of `fetch failed`. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
