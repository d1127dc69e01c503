import { createHash } from 'node:crypto';
import { type Attempts, tooMany } from './attempts.ts';

/** Whose password somebody tries to know: an account, or a name that no account has. */
type Guessed = { userId: number } | { name: string };

export interface Guesses {
  /**
   * Lets somebody try a password. Each wrong one for the same account from the same network makes the next wait longer, and so do many
   * wrong ones from a network for any account. Nobody elsewhere waits for that. `attempt` gives undefined where the password was wrong.
   */
  attempt<R>(
    by: { realmId: number; network: string },
    guessed: Guessed,
    attempt: () => Promise<R | undefined>,
  ): Promise<R | undefined>;
  /**
   * Counts a wrong API key for an account or a name from a network. Throws RATE_LIMIT_HIT after many, for a time that grows. The count
   * says nothing of right keys: they are never refused, also not behind the same network.
   */
  wrongKey(by: { realmId: number; network: string }, guessed: Guessed): Promise<void>;
}

const rememberSeconds = 86_400;
const firstWaitSeconds = 30;
const longestWaitSeconds = 1_800;
/** Networks are shared by many people: they wait less, and later. */
const network = { free: 50, firstWaitSeconds: 1, longestWaitSeconds: 60, rememberSeconds: 3_600 };
/** A client whose key ended sends it a few times more, and must be told so. */
const wrongKeys = { free: 20, firstWaitSeconds: 30, longestWaitSeconds: 1_800, rememberSeconds: 86_400 };
/** An account that is guessed at from many networks leaves each new one a single free attempt. */
const guessedAtByMany = 50;

export const waitAfter = (
  wrong: number,
  free: number,
  first = firstWaitSeconds,
  longest = longestWaitSeconds,
): number => (wrong < free ? 0 : Math.min(longest, first * 2 ** Math.min(wrong - free, 30)));

export function createGuesses(attempts: Attempts, free: number): Guesses {
  const turns = new Map<string, Promise<unknown>>();

  return {
    async wrongKey({ realmId, network: from }, guessed) {
      const pair = `wrong-key:${nameOf(guessed)}:${from}`;
      const waiting = await attempts.left(realmId, `${pair}:wait`);
      if (waiting > 0) throw tooMany(waiting);
      const { free, firstWaitSeconds: first, longestWaitSeconds: longest, rememberSeconds } = wrongKeys;
      const wait = waitAfter(await attempts.add(realmId, pair, rememberSeconds), free, first, longest);
      if (wait > 0) await attempts.add(realmId, `${pair}:wait`, wait);
    },

    async attempt({ realmId, network: from }, guessed, attempt) {
      const who = nameOf(guessed);
      const pair = `guess:${who}:${from}`;
      const keys = {
        pair,
        wait: `${pair}:wait`,
        account: `guess:${who}`,
        from: `guess-by:${from}`,
        fromWait: `guess-by:${from}:wait`,
      };
      return inTurn(`${realmId}:${who}:${from}`, async () => {
        const wait = Math.max(
          ...(await Promise.all([keys.wait, keys.fromWait].map((key) => attempts.left(realmId, key)))),
        );
        if (wait > 0) throw tooMany(wait);
        // Counted before it is known to be wrong: an attempt that is broken off counts.
        const wrong = await attempts.add(realmId, keys.pair, rememberSeconds);
        const result = await attempt();
        if (result !== undefined) {
          await attempts.drop(realmId, keys.pair);
          return result;
        }
        const [byMany, byNetwork] = await Promise.all([
          attempts.add(realmId, keys.account, rememberSeconds),
          attempts.add(realmId, keys.from, network.rememberSeconds),
        ]);
        const pairWait = waitAfter(wrong, byMany > guessedAtByMany ? 1 : free);
        const networkWait = waitAfter(byNetwork, network.free, network.firstWaitSeconds, network.longestWaitSeconds);
        if (pairWait > 0) await attempts.add(realmId, keys.wait, pairWait);
        if (networkWait > 0) await attempts.add(realmId, keys.fromWait, networkWait);
        return undefined;
      });
    },
  };

  /**
   * One at a time for the same account and network: whoever logs in with several apps at once does not guess, because each success
   * starts the count anew before the next begins.
   */
  async function inTurn<R>(key: string, task: () => Promise<R>): Promise<R> {
    const before = turns.get(key) ?? Promise.resolve();
    const own = before.catch(() => undefined).then(task);
    turns.set(key, own);
    try {
      return await own;
    } finally {
      if (turns.get(key) === own) turns.delete(key);
    }
  }
}

const nameOf = (guessed: Guessed): string =>
  'userId' in guessed ? `account:${guessed.userId}` : `name:${hashOf(guessed.name)}`;

/** Names that a person would call the same are one. A hash, because names are long or odd. */
export const hashOf = (name: string): string =>
  createHash('sha256').update(name.normalize('NFKC').trim().toLowerCase()).digest('base64url').slice(0, 22);
