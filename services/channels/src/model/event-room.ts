import type { Audience, LogEvent } from '@natter/contracts';
import { bytesPerNumber, type Work } from '@natter/database';

/**
 * Limits of the announcements of a consumer in a unit. A unit with 25,000 events fails. An audience of thousands of users takes
 * kilobytes, in memory and in the log. A unit that exceeds its deadline of 30 seconds is repeated, and would exceed it again.
 */
const most = { events: 20_000, audienceBytes: 32 * 1024 * 1024, ms: 15_000 };
/**
 * The time counts only in a unit that has emitted as many events, so that a stall, such as of PostgreSQL, costs no announcement of
 * an ordinary change.
 */
const timedFrom = 1_000;
/** Less important announcements leave a part of the room for the others. */
const parts = { high: 1, low: 0.75 };
/** A unit that has used a larger part handles no further event: the announcements of that one have room in the next unit. */
const crowded = 0.1;

interface Use {
  /** The time at which the unit began to use its room. */
  readonly since: number;
  audienceBytes: number;
}

const uses = new WeakMap<Work, Use>();

function useOf(work: Work): Use {
  const use = uses.get(work) ?? { since: performance.now(), audienceBytes: 0 };
  uses.set(work, use);
  return use;
}

function usedPart(work: Work): number {
  const { since, audienceBytes } = useOf(work);
  const ms = work.emitted() < timedFrom ? 0 : performance.now() - since;
  return Math.max(work.emitted() / most.events, audienceBytes / most.audienceBytes, ms / most.ms);
}

/**
 * Whether a unit may emit another announcement. A consumer leaves out those for which no room is left: a register contains
 * what they tell. A request is refused instead, when it emits too much.
 */
export const hasEventRoom = (work: Work, importance: keyof typeof parts = 'high'): boolean =>
  !work.isConsumer || usedPart(work) < parts[importance];

export const isCrowded = (work: Work): boolean => usedPart(work) > crowded;

/** Emits an event for which `hasEventRoom` found room. */
export function announce(work: Work, event: LogEvent): void {
  useOf(work).audienceBytes += bytesOf(event.audience);
  work.emit(event);
}

function bytesOf(audience: Audience): number {
  if (audience === 'realm') return 0;
  return 'ids' in audience.users ? audience.users.ids.length * bytesPerNumber : audience.users.bits.length;
}
