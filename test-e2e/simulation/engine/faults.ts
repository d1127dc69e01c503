import type { Random } from '../../random.ts';

/** Probabilities of faults at each await on a server; all zero after the storm. */
export interface Weather {
  postgres: number;
  redis: number;
  nats: number;
  /** Probability of a slow answer. */
  delay: number;
}

export const calm: Weather = { postgres: 0, redis: 0, nats: 0, delay: 0 };

/** The weather of a schedule: most have few kinds of faults, some have all. */
export function weatherOf(random: Random): Weather {
  const often = (): number => (random.chance(0.45) ? 0 : random.pick([0.01, 0.03, 0.08, 0.2]));
  return { postgres: often(), redis: often(), nats: often(), delay: often() };
}

/** Usually short, occasionally long in bad weather. Milliseconds. */
export function latencyOf(random: Random, weather: Weather): number {
  if (random.chance(weather.delay)) return random.next() ** 2 * random.pick([20, 200, 2_000]);
  return 0.05 + random.next() ** 3 * 3;
}
