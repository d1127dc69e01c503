import { ChatError } from '@natter/contracts';
import { Counts, wideNetwork } from '@natter/service-kit';

type Registering = { realmId: number } & ({ userId: number } | { network: string });

/** Registers are expensive, so each user, and all spectators of a realm together, may run only a few at once. */
const maxAtOnce = 8;
/** The part that one network may have of those of all spectators. */
const maxOfNetwork = 2;

export interface RegisterRoom {
  /** Throws RATE_LIMIT_HIT if too many registers run. */
  within<R>(who: Registering, work: () => Promise<R>): Promise<R>;
}

export function createRegisterRoom(): RegisterRoom {
  /** Number of running registers by key. */
  const running = new Counts<string>();

  return {
    async within(who, work) {
      const bounds = boundsOf(who);
      if (bounds.some(([name, most]) => running.of(name) >= most))
        throw tooManyRegisters('Too many registrations at once', 1);
      for (const [name] of bounds) running.add(name);
      try {
        return await work();
      } finally {
        for (const [name] of bounds) running.add(name, -1);
      }
    },
  };
}

const boundsOf = (who: Registering): [name: string, most: number][] =>
  'userId' in who
    ? [[`${who.realmId} ${who.userId}`, maxAtOnce]]
    : [
        [`${who.realmId} spectators`, maxAtOnce],
        [`${who.realmId} spectators ${wideNetwork(who.network)}`, maxOfNetwork],
      ];

export const tooManyRegisters = (message: string, seconds: number): ChatError =>
  new ChatError('RATE_LIMIT_HIT', message, { 'retry-after': seconds });
