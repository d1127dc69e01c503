import { createHash } from 'node:crypto';
import type { Actor, RequestMeta } from '@natter/contracts';
import { Counts, overloaded, WaitingTasks } from '@natter/database';
import { wideNetwork } from '@natter/service-kit';

/** The caller on whose behalf a password is hashed; the context of a request is one. */
export interface Hasher {
  meta: Pick<RequestMeta, 'realmId' | 'network'>;
  actor?: Pick<Actor, 'userId' | 'botOwnerId'> | undefined;
  /** Whether the account logged in from this network before. */
  isFamiliar?: boolean | undefined;
}

/** The maximum number of waiting tasks of one caller. */
const maxPerCaller = 16;

/**
 * Runs at most `places` tasks at once. Waiting realms take turns, and within a realm its callers. A caller is a user with
 * their bots or, without an account, a network in all realms, because a client chooses the realm. The networks of an IPv6
 * /48 are one caller, because a host often chooses among its 65,536 /64 networks. Users and familiar callers have their
 * own queue, which gets every other turn, so that they do not wait behind guesses of strangers. Rejects with
 * SERVICE_UNAVAILABLE at the deadline, and if the realm or the caller has no room.
 */
export function createHashTurns(
  places: number,
  maxWaiting: number,
): <R>(by: Hasher, task: () => Promise<R>) => Promise<R> {
  const familiar = new WaitingTasks(maxWaiting);
  const others = new WaitingTasks(maxWaiting);
  const waitingOf = new Counts<string>();
  let running = 0;
  let isTurnOfOthers = false;

  const begin = (): void => {
    running++;
  };

  const startNext = (): void => {
    while (running < places) {
      isTurnOfOthers = !isTurnOfOthers;
      const [first, second] = isTurnOfOthers ? [others, familiar] : [familiar, others];
      if (!first.startNext() && !second.startNext()) return;
    }
  };

  async function wait(by: Hasher): Promise<void> {
    const owner = ownerOf(by);
    const caller = by.actor ? `${owner.realmId}:${owner.userId}` : `${owner.userId}`;
    if (waitingOf.of(caller) >= maxPerCaller) throw overloaded('too many passwords of one caller wait to be hashed');
    waitingOf.add(caller);
    try {
      await (by.actor || by.isFamiliar ? familiar : others).wait(owner, begin);
    } finally {
      waitingOf.add(caller, -1);
    }
  }

  return async (by, task) => {
    if (running < places) begin();
    else await wait(by);
    try {
      return await task();
    } finally {
      running--;
      startNext();
    }
  };
}

/** The ID of a network is below 0. It is a hash, so two networks hardly ever have the same. */
const ownerOf = ({ meta, actor }: Hasher): { realmId: number; userId: number } => ({
  realmId: meta.realmId,
  userId: (actor && (actor.botOwnerId ?? actor.userId)) ?? -1 - numberOf(wideNetwork(meta.network ?? '')),
});

const numberOf = (text: string): number => createHash('sha256').update(text).digest().readUIntBE(0, 6);
