import { randomOf } from './kills.ts';

/** A seeded source of choices: the same seed gives the same choices. */
export interface Random {
  /** A random number in [0, 1). */
  next(): number;
  /** An integer in [0, count). */
  below(count: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly [T, ...T[]] | readonly T[]): T;
}

export function createRandom(seed: number): Random {
  const next = randomOf(seed);
  const below = (count: number): number => Math.floor(next() * count);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T,
  };
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const copy = [...list];
  for (let index = copy.length - 1; index > 0; index--) {
    const other = random.below(index + 1);
    [copy[index], copy[other]] = [copy[other] as T, copy[index] as T];
  }
  return copy;
}
