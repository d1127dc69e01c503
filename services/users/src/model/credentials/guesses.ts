import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLanes, pause } from '@natter/database';
import { type Attempts, tooMany } from './attempts.ts';

/**
 * The target of a guess. Without authentication it is the name as given, never the account that has it: otherwise counts
 * that two names share, or do not share, would reveal that one of them has an account. `userId`: the authenticated caller.
 */
type Guessed = { userId: number } | { name: string };

export interface Guesses {
  /**
   * Permits an attempt at a password. Each wrong one for the same account from the same network makes the next wait
   * longer, and so do many wrong ones from a network for any account. Other networks are not delayed, and an account that
   * logged in from a network does not wait because of guesses at other accounts there. `attempt` returns undefined if the
   * password was wrong. Its argument is whether the account logged in from the network before.
   */
  attempt<R>(
    by: { realmId: number; network: string },
    guessed: Guessed,
    attempt: (isFamiliar: boolean) => Promise<R | undefined>,
  ): Promise<R | undefined>;
  /**
   * Counts a wrong API key for a name from a network. Throws RATE_LIMIT_HIT after many for the name, for an increasing
   * time, and after many for any names. Valid keys are never refused because of it, even from the same network.
   */
  wrongKey(by: { realmId: number; network: string }, name: string): Promise<void>;
}

const rememberSeconds = 86_400;
const firstWaitSeconds = 30;
const longestWaitSeconds = 1_800;
/** Many users share a network, so it waits later and for a shorter time. */
const network = { free: 50, firstWaitSeconds: 1, longestWaitSeconds: 60, rememberSeconds: 3_600 };
/** A login exempts its account from the waits of its network for this long. An account has a bounded number of networks. */
const known = { seconds: 30 * 86_400, loginsPerDay: 100 };
/** A client whose key was revoked sends it a few more times, and must get the error for that. */
const wrongKeys = { free: 20, firstWaitSeconds: 30, longestWaitSeconds: 1_800, rememberSeconds: 86_400 };
/** Each name adds counts to Redis, and a client can invent any number of names. */
const wrongKeysOfNetwork = { seconds: 3_600, most: 500 };
/** An attempt that ends with its process keeps the turn of its network for this long. A running one prolongs it. */
const turnSeconds = 2;
const prolongEveryMs = 500;
/** A longer attempt loses the turn. */
const longestTurnMs = 10_000;
const askAgainMs = 20;
/** If many networks guess at an account, each new network has only one free attempt. */
const guessedAtByMany = 50;

export const waitAfter = (
  wrong: number,
  free: number,
  first = firstWaitSeconds,
  longest = longestWaitSeconds,
): number => (wrong < free ? 0 : Math.min(longest, first * 2 ** Math.min(wrong - free, 30)));

export function createGuesses(attempts: Attempts, free: number): Guesses {
  const inLane = createLanes();

  /**
   * Runs one attempt at a time for each network, over all processes. So each attempt is compared with counts that include
   * the earlier attempts. If a user logs in with several apps at once, each success resets the count before the next
   * attempt begins.
   */
  const inTurn = <R>(realmId: number, from: string, work: () => Promise<R>): Promise<R> => {
    const turn = `guess-turn:${from}`;
    return inLane(`${realmId}:${from}`, async (hasNext) => {
      while ((await attempts.add(realmId, turn, turnSeconds)) > 1) await pause(askAgainMs);
      const endTurn = holdTurn(realmId, turn);
      try {
        return await work();
      } finally {
        // The turn may have expired, and may belong to another process now. If another process waits for the turn, the next
        // attempt in this process begins later.
        const isOurs = endTurn();
        const isWanted = isOurs && hasNext() && (await attempts.add(realmId, turn, turnSeconds)) > 2;
        if (isOurs) await attempts.drop(realmId, turn);
        if (isWanted) await sleep(2 * askAgainMs);
      }
    });
  };

  /** Prolongs a turn while it lasts. The returned function ends this, and returns whether the turn is still this process's. */
  const holdTurn = (realmId: number, turn: string): (() => boolean) => {
    const beganAt = performance.now();
    let until = beganAt + turnSeconds * 1_000;
    const prolong = async (): Promise<void> => {
      const at = performance.now();
      const next = at + turnSeconds * 1_000;
      if (at >= until || next > beganAt + longestTurnMs) return;
      if (await attempts.prolong(realmId, turn, turnSeconds)) until = next;
    };
    const timer = setInterval(() => void prolong(), prolongEveryMs);
    return () => {
      clearInterval(timer);
      return performance.now() < until;
    };
  };

  const remember = async (realmId: number, who: string, mark: string): Promise<void> => {
    if ((await attempts.add(realmId, `known-of:${who}`, 86_400)) > known.loginsPerDay) return;
    await attempts.drop(realmId, mark);
    await attempts.add(realmId, mark, known.seconds);
  };

  return {
    async wrongKey({ realmId, network: from }, name) {
      const pair = `wrong-key:${nameOf({ name })}:${from}`;
      const waiting = await attempts.left(realmId, `${pair}:wait`);
      if (waiting > 0) throw tooMany(waiting);
      await attempts.count(realmId, `wrong-key-by:${from}`, wrongKeysOfNetwork);
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
        known: `known:${hashOf(`${who}:${from}`)}`,
      };
      const checkWait = async (): Promise<void> => {
        const [ofPair, ofNetwork] = await Promise.all([
          attempts.left(realmId, keys.wait),
          attempts.left(realmId, keys.fromWait),
        ]);
        // A person who logged in here before is not refused because a neighbour guesses.
        const isExempt = ofNetwork > ofPair && (await attempts.left(realmId, keys.known)) > 0;
        const wait = isExempt ? ofPair : Math.max(ofPair, ofNetwork);
        if (wait > 0) throw tooMany(wait);
      };
      // Refused attempts take no turn from others.
      await checkWait();
      return inTurn(realmId, from, async () => {
        await checkWait();
        // Counted before the result is known, so that an aborted attempt counts too.
        const wrong = await attempts.add(realmId, keys.pair, rememberSeconds);
        const result = await attempt((await attempts.left(realmId, keys.known)) > 0);
        if (result !== undefined) {
          await attempts.drop(realmId, keys.pair);
          await remember(realmId, who, keys.known);
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
}

const nameOf = (guessed: Guessed): string =>
  'userId' in guessed ? `account:${guessed.userId}` : `name:${hashOf(guessed.name)}`;

/** Different spellings of a name count as one. Hashed, because names may be long or contain any characters. */
export const hashOf = (name: string): string =>
  createHash('sha256')
    .update(lowerCase(name.normalize('NFKC')).trim())
    .digest('base64url')
    .slice(0, 22);

/**
 * The form of a name that is compared with `lower(email)`. Made here, because PostgreSQL maps more characters to ASCII
 * letters, depending on its locale: each spelling of one address would have counts of its own.
 */
export const lowerCase = (name: string): string => name.toLowerCase();
