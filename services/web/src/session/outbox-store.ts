import type { Outgoing } from '../state/state.ts';

/** The server knows an Idempotency-Key for a day: an older message may be a second one, so its writer decides. */
const repeatableMs = 20 * 3_600_000;

const keyFor = (ownId: number): string => `natter outbox ${ownId}`;

export function readOutbox(ownId: number): Outgoing[] {
  try {
    const kept = JSON.parse(localStorage.getItem(keyFor(ownId)) ?? '[]') as Outgoing[];
    return kept.map((one) =>
      Date.now() - one.at < repeatableMs ? one : { ...one, problem: 'This message was not confirmed for a day.' },
    );
  } catch {
    return [];
  }
}

/** Messages on their way survive a reload. */
export function writeOutbox(ownId: number, outbox: readonly Outgoing[]): void {
  const waiting = outbox.filter(({ sentAs }) => sentAs === undefined);
  if (waiting.length > 0) localStorage.setItem(keyFor(ownId), JSON.stringify(waiting));
  else localStorage.removeItem(keyFor(ownId));
}
