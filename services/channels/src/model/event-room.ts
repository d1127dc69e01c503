import type { Work } from '@natter/database';

/** A consumer emits no more announcements than these in a unit, because a unit with 25,000 events fails. */
const maxAnnouncements = 20_000;
/** Less important announcements leave room for as many of the others. */
const reserved = 5_000;

/**
 * Whether a unit may emit another announcement. A consumer leaves out those for which no room is left: a register contains
 * what they tell. A request is refused instead, when it emits too much.
 */
export const hasEventRoom = (work: Work, importance: 'high' | 'low' = 'high'): boolean =>
  !work.isConsumer || work.emitted() < (importance === 'high' ? maxAnnouncements : maxAnnouncements - reserved);
