/** Sequences of requests with known answers, in a realm without other activity. */
import { type Random, shuffled } from '../../random.ts';
import * as keys from './keys.ts';
import * as messages from './messages.ts';
import * as objects from './objects.ts';
import * as own from './own.ts';
import * as pairs from './pairs.ts';
import * as roles from './roles.ts';
import { Abandoned, createStage, type Stage, type StageOptions, Unexpected } from './stage.ts';

type Sequence = (stage: Stage) => Promise<void>;

/** All sequences, each with the number of times that it runs in a round. */
const sequences: readonly [name: string, sequence: Sequence, times: number][] = [
  ['a deactivated person comes back', keys.deactivatedAndBack, 3],
  ['a person leaves', keys.deactivatedSelf, 2],
  ['a key is made anew', keys.regenerated, 2],
  ['a key is revoked', keys.revoked, 1],
  ['a password is changed', keys.passwordChanged, 1],
  ['a password is forgotten', keys.passwordForgotten, 1],
  ['an address is changed', keys.addressChanged, 1],
  ['a bot ends', keys.botEnded, 2],
  ['an administrator is demoted', roles.demoted, 3],
  ['a member is promoted', roles.promoted, 2],
  ['a former owner invited', roles.invitedByFormerOwner, 1],
  ['somebody left a private channel', roles.leftPrivateChannel, 2],
  ['a channel', objects.channel, 2],
  ['a message', messages.message, 2],
  ['reactions', messages.reactions, 1],
  ['kept for later', messages.later, 1],
  ['a queue', messages.queue, 2],
  ['a default group', objects.defaultGroup, 1],
  ['subgroups', objects.subgroups, 1],
  ['a playground', objects.playground, 1],
  ['a profile', own.profile, 1],
  ['about a person', own.social, 1],
  ['a user group', objects.userGroup, 2],
  ['orders', objects.orders, 1],
  ['pictures', objects.pictures, 1],
  ['an upload', objects.upload, 1],
  ['a revoked invitation', objects.revokedInvitation, 1],
  ['joining', objects.joining, 1],
  ['joining by the page', objects.joiningByPage, 1],
  ['an invitation link', objects.invitationLink, 1],
  ['what is one’s own', own.collections, 1],
  ['domains', objects.domains, 1],
  ['two at once', pairs.atOnce, 4],
  ['two against each other', pairs.againstEachOther, 1],
  ['removed meanwhile', pairs.removedMeanwhile, 2],
];
const ofRound = sequences.flatMap(([name, sequence, times]) =>
  Array.from({ length: times }, () => [name, sequence] as const),
);
/** Sequences that change data of the whole realm (description, lists, images), so that two must not run at once. */
const exclusive = new Set<Sequence>([
  ...[objects.orders, objects.pictures, own.profile, pairs.atOnce, pairs.removedMeanwhile],
]);

export interface Sequences {
  /** Runs one sequence to its end. */
  run(random: Random): Promise<void>;
  summary(): string;
}

export function createSequences(
  optionsFor: () => Promise<Omit<StageOptions, 'random'>>,
  onProblem: (problem: string) => void,
): Sequences {
  const counts = new Map<string, number>();
  let abandoned = 0;
  let round: typeof ofRound = [];
  let realm = optionsFor();
  let leftInRealm = sequencesPerRealm;
  let alone: Promise<void> = Promise.resolve();
  return {
    async run(random) {
      if (leftInRealm-- === 0) {
        leftInRealm = sequencesPerRealm;
        realm = optionsFor();
      }
      const options = await realm;
      if (round.length === 0) round = shuffled(ofRound, random);
      const [name, sequence] = round.pop() ?? ['a message', messages.message];
      const stage = createStage({ ...options, random });
      const work = (): Promise<void> =>
        sequence(stage).catch((error: unknown) => {
          if (error instanceof Abandoned) abandoned++;
          else if (error instanceof Unexpected && error.call)
            options.onProblem(`in the sequence "${name}": ${error.message}`, error.call);
          else onProblem(`in the sequence "${name}": ${error instanceof Unexpected ? error.message : error}`);
        });
      const turn = exclusive.has(sequence) ? alone.then(work) : work();
      if (exclusive.has(sequence)) alone = turn;
      await turn;
      stage.close();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    summary: () =>
      `Sequences, of which ${abandoned} were abandoned because a request was answered only on a repeat: ${[...counts]
        .sort((a, b) => b[1] - a[1])
        .map(([name, count]) => `${name} ${count}`)
        .join(', ')}`,
  };
}

/** Each creates users, whom registers of the realm list. */
const sequencesPerRealm = 300;
