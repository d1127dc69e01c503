import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counts, createLocalCounts, stringBytes } from '@natter/service-kit';
import { LRUCache } from 'lru-cache';
import type { Coming } from './fair-share.ts';
import type { Rate } from './rate-limit.ts';
import type { Tenant } from './tenant.ts';

/**
 * Refuses requests of realms for which the fair share has no room. It recognizes the sender by the credentials of an
 * earlier request, and does not check them. A refusal by the fair share, after all checks, costs about ten times as much,
 * and under overload most requests are refused.
 */
export interface EarlyRefusals {
  /**
   * Call it when the sender of a request has been authenticated: further requests with its credentials may be refused early.
   * If the body has not arrived yet, the request no longer counts as coming to the fair share, because a client could use up
   * the room of a realm with slow bodies.
   */
  authenticated(request: IncomingMessage, tenant: Tenant): void;
  /** The sender of a request; undefined unless its credentials were recorded recently. */
  tenantOf(request: IncomingMessage): Tenant | undefined;
  /**
   * Returns whether the request is refused, because the fair share would refuse it. Otherwise the request counts as coming
   * to the fair share until `arrived`. A user who was refused as often within a window as the rate limit allows requests is
   * not refused here, because the rate limit has to count further requests. It refuses them, so they do not count as coming.
   */
  tryRefuse(tenant: Tenant, request: IncomingMessage, response: ServerResponse): boolean;
  /** Call it when a request has reached the fair share, or has ended before. */
  arrived(request: IncomingMessage): void;
}

/** The account of a credential may change, so it is looked up again after this time. */
const usableMs = 10_000;
const maxEntries = 10_000;
/** Bytes of the credentials of all entries. */
const maxBytes = 4 * 1024 * 1024;
/** A request no longer counts as coming after this time. */
const comingMs = 1_000;
/** The credentials of a request are not kept if they are longer. */
const maxKeyLength = 4_096;

/**
 * `isFull`: whether the fair share would refuse a request of the tenant if these requests came before it.
 * `rate`: the rate limit of a user.
 */
export function createEarlyRefusals(
  isFull: (tenant: Tenant, coming: Coming) => boolean,
  rate: Rate,
  now: () => number = () => performance.now(),
): EarlyRefusals {
  const counts = createLocalCounts();
  const noted = new LRUCache<string, { tenant: Tenant; until: number }>({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: (_, key) => stringBytes(key),
  });
  /**
   * Requests of each realm that are coming to the fair share, oldest first. One turn of the event loop may bring hundreds.
   */
  const coming = new Map<number, Map<IncomingMessage, { userId: number; at: number }>>();
  const ownComing = new Counts<string>();
  const realmOf = new WeakMap<IncomingMessage, number>();

  function arrived(request: IncomingMessage): void {
    const realmId = realmOf.get(request);
    const ofRealm = realmId === undefined ? undefined : coming.get(realmId);
    const found = ofRealm?.get(request);
    if (realmId === undefined || !ofRealm || !found) return;
    ofRealm.delete(request);
    if (ofRealm.size === 0) coming.delete(realmId);
    ownComing.add(`${realmId}:${found.userId}`, -1);
  }

  function forgetOld(realmId: number): void {
    for (const [request, { at }] of coming.get(realmId) ?? []) {
      if (now() - at < comingMs) return;
      arrived(request);
    }
  }

  return {
    authenticated(request, tenant) {
      if (!request.complete) arrived(request);
      const { authorization, cookie } = request.headers;
      if (authorization === undefined && cookie === undefined) return;
      const key = keyOf(request);
      if (key.length <= maxKeyLength) noted.set(key, { tenant, until: now() + usableMs });
    },
    tenantOf(request) {
      const found = noted.size > 0 ? noted.get(keyOf(request)) : undefined;
      return found && found.until > now() ? found.tenant : undefined;
    },
    tryRefuse(tenant, request, response) {
      const { realmId, userId } = tenant;
      forgetOld(realmId);
      const who = `${realmId}:${userId}`;
      const ofRealm = coming.get(realmId) ?? new Map();
      if (isFull(tenant, { all: ofRealm.size, own: ownComing.of(who) }))
        return counts.add(who, 1, rate.windowSeconds) <= rate.limit;
      coming.set(realmId, ofRealm.set(request, { userId, at: now() }));
      ownComing.add(who);
      realmOf.set(request, realmId);
      response.once('close', () => arrived(request));
      return false;
    },
    arrived,
  };
}

/** Everything that may decide which account a request belongs to. */
function keyOf({ headers }: IncomingMessage): string {
  const { host, authorization, cookie } = headers;
  return [host, headers['x-forwarded-host'], authorization, cookie].join('\n');
}
