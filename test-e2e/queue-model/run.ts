import { randomOf } from '../kills.ts';
import { type Disturbances, drive, type Follower } from './drive.ts';
import { randomCommands } from './model.ts';

export interface Outcome {
  ran: number;
  /** Number of times each command was sent. */
  counts: Record<string, number>;
  problems: string[];
}

const commandsEach = 10;

/** Runs random sequences, one per follower at a time, until one differs from the model. */
export async function runSequences(options: {
  sequences: number;
  seed: number;
  disturbed: number;
  followers: Follower[];
  disturb: Disturbances;
  onProgress?: (ran: number) => void;
}): Promise<Outcome> {
  const { sequences, seed, disturbed, followers, disturb } = options;
  const outcome: Outcome = { ran: 0, counts: {}, problems: [] };
  const run = Math.random().toString(36).slice(2, 8);
  let next = 0;
  const work = async (follower: Follower): Promise<void> => {
    while (next < sequences && outcome.problems.length === 0) {
      const index = next++;
      const commands = randomCommands(randomOf(seed + index), commandsEach, disturbed);
      for (const { kind } of commands) outcome.counts[kind] = (outcome.counts[kind] ?? 0) + 1;
      const problem = await drive(follower, `${run} ${index}: `, commands, disturb);
      if (problem) outcome.problems.push(`sequence ${index} (seed ${seed}): ${problem}`);
      outcome.ran++;
      options.onProgress?.(outcome.ran);
    }
  };
  await Promise.all(followers.map(work));
  return outcome;
}
