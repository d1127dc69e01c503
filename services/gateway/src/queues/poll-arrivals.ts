import { type Actor, isGuest, type LogEntry, roles } from '@natter/contracts';
import { Counts } from '@natter/service-kit';
import { isAfter, type Position } from '../log-tail/kept-entries.ts';
import { rateLimitHit } from '../rate-limit/rate-limit.ts';
import { personOf } from '../rate-limit/tenant.ts';

/** A poll from its arrival to its response, held or not yet. */
export interface Arrival {
  readonly realmId: number;
  readonly userId: number;
  /** Order of arrival at this gateway. */
  readonly order: number;
  /** A guest receives only channels they are subscribed to, whatever the queue was registered for. */
  isGuest: boolean;
  /** The highest generation announced for the queue since the arrival. */
  newest: number;
  /** The queue ended. */
  isGone: boolean;
  /**
   * The position of the entry that ended a key of the user or deactivated the realm: the poll answers at once with no
   * event after it, and the client authenticates again.
   */
  revokedAt: Position | undefined;
  /** Ends the wait of the poll; called when the poll was revoked. */
  wake: () => void;
}

/**
 * Polls in progress, by queue. A poll is registered before its credentials are checked, and each entry of the log
 * reaches `follow` before any poll reads it, so no poll delivers an event from after the end of its credentials. A held
 * poll does deliver the event that ends them, from which its client learns that the realm was deactivated.
 */
export interface Arrivals {
  /** Throws RATE_LIMIT_HIT if the person and their bots have too many polls in progress. */
  add(queueId: string, actor: Actor): { arrival: Arrival; leave: () => void };
  /** Another process announced the end of a queue, or a newer poll of it. */
  heard(queueId: string, news: { gone?: boolean; generation?: number }): void;
  /** An entry of a realm's log has arrived. */
  follow(realmId: number, entry: LogEntry): void;
  /** Entries of a realm's log were lost: any of its keys may have ended. */
  revokeAll(realmId: number): void;
}

/** Maximum number of polls of a person and their bots at one gateway. Each poll holds a connection and a queue record. */
export const maxPollsOfPerson = 2_000;

/** A position before the first entry of every log. */
const nowhere: Position = { number: 0, n: 0 };

export function createArrivals(): Arrivals {
  const byQueue = new Map<string, Set<Arrival>>();
  const ofPeople = new Counts<string>();
  let arrived = 0;

  function* inRealm(realmId: number): Generator<Arrival> {
    for (const all of byQueue.values()) for (const one of all) if (one.realmId === realmId) yield one;
  }
  const revoke = (realmId: number, at: Position, isAffected: (arrival: Arrival) => boolean): void => {
    for (const arrival of inRealm(realmId)) {
      if (!isAffected(arrival)) continue;
      if (!arrival.revokedAt || isAfter(arrival.revokedAt, at)) arrival.revokedAt = at;
      arrival.wake();
    }
  };

  return {
    add(queueId, actor) {
      const person = `${actor.realmId}:${personOf(actor)}`;
      if (ofPeople.of(person) >= maxPollsOfPerson) throw rateLimitHit({ resetInSeconds: 10 });
      ofPeople.add(person);
      const arrival: Arrival = {
        realmId: actor.realmId,
        userId: actor.userId,
        order: ++arrived,
        isGuest: isGuest(actor),
        newest: 0,
        isGone: false,
        revokedAt: undefined,
        wake: () => undefined,
      };
      const here = byQueue.get(queueId) ?? new Set();
      byQueue.set(queueId, here.add(arrival));
      const leave = (): void => {
        here.delete(arrival);
        if (here.size === 0) byQueue.delete(queueId);
        ofPeople.add(person, -1);
      };
      return { arrival, leave };
    },
    heard(queueId, { gone, generation }) {
      for (const arrival of byQueue.get(queueId) ?? []) {
        arrival.isGone ||= gone === true;
        arrival.newest = Math.max(arrival.newest, generation ?? 0);
      }
    },
    follow(realmId, { number, n, event }) {
      if (event.type === 'credentials_changed')
        revoke(realmId, { number, n }, ({ userId }) => userId === event.body.user_id);
      // Every key of the realm is refused from now on.
      if (event.type === 'realm' && event.op === 'deactivated') revoke(realmId, { number, n }, () => true);
      if (event.type !== 'realm_user' || event.op !== 'update') return;
      const { user_id, role } = event.body.person;
      if (role === undefined) return;
      for (const one of inRealm(realmId)) if (one.userId === user_id) one.isGuest = role === roles.guest;
    },
    revokeAll: (realmId) => revoke(realmId, nowhere, () => true),
  };
}
