import { Counts } from '@natter/service-kit';
import type { Tenant } from './tenant.ts';

/** A request in flight for longer than this is stuck: it waits for something else than capacity, such as a row lock. */
const stuckMs = 1_000;

interface Request {
  tenant: Tenant;
  /** Time when the request began. */
  at: number;
}

/**
 * The requests in flight. Divides a limit equally among the realms that have any in flight, and the share of a realm
 * equally among its users, so that they do not wait for stuck requests of others.
 */
export class InFlight {
  /** The oldest first. */
  readonly #requests = new Set<Request>();
  readonly #realms = new Map<number, { size: number; users: Counts<number> }>();
  readonly #now: () => number;
  #stuck = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Number of requests that are not stuck. */
  get moving(): number {
    return this.size - this.#stuck;
  }

  /** Returns a function to call at the end of the request; its result is the duration of the request in milliseconds. */
  begin(tenant: Tenant): () => number {
    const { realmId, userId } = tenant;
    const request = { tenant, at: this.#now() };
    this.#requests.add(request);
    const realm = this.#realms.get(realmId) ?? { size: 0, users: new Counts<number>() };
    realm.size++;
    realm.users.add(userId);
    this.#realms.set(realmId, realm);
    return () => {
      this.#requests.delete(request);
      realm.users.add(userId, -1);
      if (--realm.size === 0) this.#realms.delete(realmId);
      return this.#now() - request.at;
    };
  }

  /** Counts those that are stuck. Call it at regular intervals. */
  look(): void {
    this.#stuck = 0;
    for (const { at } of this.#requests) {
      if (this.#now() - at <= stuckMs) return;
      this.#stuck++;
    }
  }

  /** Whether one more request of the realm is within its share, and may begin in place of a stuck one. */
  hasRealmRoom(realmId: number, limit: number): boolean {
    return this.moving < limit && (this.#realms.get(realmId)?.size ?? 0) + 1 <= this.#shareOf(realmId, limit);
  }

  /** Whether one more request of the user is within their share of the realm's, and may begin in place of a stuck one. */
  hasUserRoom({ realmId, userId }: Tenant, limit: number): boolean {
    const users = this.#realms.get(realmId)?.users;
    const own = users?.of(userId) ?? 0;
    const count = (users?.size ?? 0) + (own > 0 ? 0 : 1);
    return this.moving < limit && own + 1 <= this.#shareOf(realmId, limit) / count;
  }

  #shareOf(realmId: number, limit: number): number {
    return limit / (this.#realms.size + (this.#realms.has(realmId) ? 0 : 1));
  }
}
