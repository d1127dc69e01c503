import type { System } from '@natter/local/system';
import { metricsOf } from './metrics.ts';

const atOnce = 12;
const patienceMs = 120_000;

/**
 * Sends requests until each gateway has answered some, and returns all answers. `send` must open a connection of its
 * own: the gateways take connections from a shared queue, so nobody chooses one. Requests of others count too: where
 * it matters, call this while there are none.
 */
export async function onEveryGateway<R>(system: System, send: () => Promise<R>): Promise<R[]> {
  const before = await answeredByEach(system);
  const answers: R[] = [];
  for (const end = Date.now() + patienceMs; Date.now() < end; ) {
    answers.push(...(await Promise.all(Array.from({ length: atOnce }, send))));
    const after = await answeredByEach(system);
    if (after.every((count, index) => count > (before[index] ?? 0))) return answers;
  }
  throw new Error('a gateway answered no request');
}

/** How many requests each gateway has answered since it started. */
async function answeredByEach(system: System): Promise<number[]> {
  return (await metricsOf(system, 'gateway')).map((text) => {
    const counts = [...text.matchAll(/^natter_http_request_seconds_count\{(?!.*"cancelled").*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  });
}
