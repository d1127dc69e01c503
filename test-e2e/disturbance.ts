import { type Credentials, request } from './api.ts';
import { describe, follow } from './follower.ts';

/** The address of the load, and its users. */
export interface Disturbed {
  url: string;
  people: Record<'owner' | 'member' | 'member2' | 'moderator', Credentials>;
}

export interface Report {
  acknowledged: number;
  inFlightAtDisturbances: number[];
  problems: string[];
  /** Requests of senders and followers that were not answered with 200. All were retried. */
  failures: string[];
  /** The longest time that any queue was without an answer. A poll is held until an event or a heartbeat is due. */
  longestWaitMs: number;
  /** The longest time from a send to its success, with its repetitions. */
  longestSendMs: number;
}

/**
 * Continuous sends from several clients with as many followers, while `disturb` injects faults. Every acknowledged
 * message must reach every follower once, in one order, and no follower may lose its queue.
 */
export async function underDisturbance(
  system: Disturbed,
  clients: number,
  disturb: (tick: () => void) => Promise<void>,
  headers: Record<string, string> = {},
): Promise<Report> {
  const { url, people } = system;
  const senders = [people.owner, people.member, people.member2, people.moderator];
  const followers = await Promise.all(
    Array.from({ length: clients }, (_, index) =>
      follow(url, senders[index % senders.length] ?? people.member, headers),
    ),
  );
  const acknowledged = new Map<string, number>();
  const inFlightAtDisturbances: number[] = [];
  const failures: string[] = [];
  let inFlight = 0;
  let longestSendMs = 0;
  let isSending = true;
  const run = Math.random().toString(36).slice(2);
  const sending = Array.from({ length: clients }, async (_, index) => {
    const who = senders[index % senders.length] ?? people.member;
    for (let count = 0; isSending; count++) {
      const content = `${run} ${index} ${count}`;
      const began = performance.now();
      // The same key until it is answered, so that a retry does not double the message.
      for (let isAnswered = false; !isAnswered; ) {
        inFlight++;
        try {
          const { status, body } = await request(
            url,
            { ...who, headers: { 'idempotency-key': content, ...headers } },
            'POST /messages',
            { type: 'channel', to: 'general', topic: 'load', content },
          );
          if (status === 200) acknowledged.set(content, body.id);
          isAnswered = status < 500 && status !== 429;
          if (status !== 200) failures.push(`send: ${status} ${body.code}`);
        } catch (error) {
          // The connection broke: the outcome is unknown, so the request is repeated.
          failures.push(`send: ${describe(error)}`);
        } finally {
          inFlight--;
        }
        if (!isAnswered) await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
      }
      longestSendMs = Math.max(longestSendMs, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 30 + Math.random() * 30));
    }
  });
  await disturb(() => inFlightAtDisturbances.push(inFlight));
  isSending = false;
  await Promise.all(sending);
  const deadline = Date.now() + 120_000;
  const expected = [...acknowledged.entries()].sort((a, b) => a[1] - b[1]).map(([content]) => content);
  const seenBy = (contents: string[]): string[] => contents.filter((content) => content.startsWith(run));
  while (
    Date.now() < deadline &&
    followers.some((follower) => seenBy(follower.contents).length < expected.length && !follower.lost)
  )
    await new Promise((resolve) => setTimeout(resolve, 100));
  const problems = followers.flatMap((follower, index) => {
    const seen = seenBy(follower.contents);
    if (follower.lost) return [`follower ${index} lost its queue: ${follower.lost}`];
    if (JSON.stringify(seen) === JSON.stringify(expected)) return [];
    const missing = expected.filter((content) => !seen.includes(content)).length;
    return [
      `follower ${index} saw ${seen.length} of ${expected.length}, ${missing} missing, ${seen.length - new Set(seen).size} doubled`,
    ];
  });
  const longestWaitMs = Math.max(...followers.map((follower) => follower.longestWaitMs()));
  for (const follower of followers) follower.stop();
  failures.push(...followers.flatMap((follower) => follower.failures.map((failure) => `poll: ${failure}`)));
  return { acknowledged: acknowledged.size, inFlightAtDisturbances, problems, failures, longestWaitMs, longestSendMs };
}
