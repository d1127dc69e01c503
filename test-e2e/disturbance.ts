import type { System } from '@natter/local/system';
import { request } from './api.ts';
import { follow } from './follower.ts';

export interface Report {
  acknowledged: number;
  inFlightAtDisturbances: number[];
  problems: string[];
}

/**
 * Continuous sends from several clients with as many followers, while `disturb` does its worst. Every acknowledged message
 * must reach every follower once, in one order, and no follower may lose its queue.
 */
export async function underDisturbance(
  system: System,
  clients: number,
  disturb: (tick: () => void) => Promise<void>,
): Promise<Report> {
  const { url, people } = system;
  const senders = [people.owner, people.member, people.member2, people.moderator];
  const followers = await Promise.all(
    Array.from({ length: clients }, (_, index) => follow(url, senders[index % senders.length] ?? people.member)),
  );
  const acknowledged = new Map<string, number>();
  const inFlightAtDisturbances: number[] = [];
  let inFlight = 0;
  let isSending = true;
  const run = Math.random().toString(36).slice(2);
  const sending = Array.from({ length: clients }, async (_, index) => {
    const who = senders[index % senders.length] ?? people.member;
    for (let count = 0; isSending; count++) {
      const content = `${run} ${index} ${count}`;
      // The same key until it is answered: a retry must not double.
      for (let isAnswered = false; !isAnswered; ) {
        inFlight++;
        try {
          const { status, body } = await request(
            url,
            who,
            'POST',
            '/messages',
            { type: 'channel', to: 'general', topic: 'load', content },
            { 'idempotency-key': content },
          );
          if (status === 200) acknowledged.set(content, body.id);
          isAnswered = status < 500 && status !== 429;
        } catch {
          // Cut off: outcome unknown, so again.
        } finally {
          inFlight--;
        }
        if (!isAnswered) await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
      }
      await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 20));
    }
  });
  await disturb(() => inFlightAtDisturbances.push(inFlight));
  isSending = false;
  await Promise.all(sending);
  const deadline = Date.now() + 20_000;
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
  for (const follower of followers) follower.stop();
  return { acknowledged: acknowledged.size, inFlightAtDisturbances, problems };
}
