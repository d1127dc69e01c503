import { createHash } from 'node:crypto';
import { wideNetwork } from './wide-network.ts';

/**
 * The user of a realm for whom work runs. Tenants take turns. The gateway counts bots as their owner. `realmId` and `userId`
 * are 0 for work of the service itself, and below 0 for requests without an account.
 */
export interface Tenant {
  realmId: number;
  userId: number;
}

/**
 * The number is low enough that an attacker with many networks cannot fill the memory, and high enough that one network delays
 * the logins of only few others.
 */
const networkGroups = 256;

/**
 * The tenant of a request without an account is a group of networks. All these groups take turns as one realm, whichever
 * realms they address, because a client chooses the realm by the `Host` header.
 */
export const tenantWithoutAccount = (network: string): Tenant => ({
  realmId: -1,
  userId: -1 - (createHash('sha256').update(wideNetwork(network)).digest().readUInt32BE() % networkGroups),
});

interface Realm<T> {
  size: number;
  /** Each item has its own wrapper, so that equal items are distinct. */
  users: Map<number, Set<{ item: T }>>;
}

/**
 * Takes turns between realms, and within a realm between its users. So many items of one user delay each item of another by
 * one. A realm may add an item only while it has fewer items than there are free places, so one realm cannot fill the queue.
 */
export class FairQueue<T> {
  readonly #realms = new Map<number, Realm<T>>();
  readonly #maxSize: number;
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#size;
  }

  sizeOf(realmId: number): number {
    return this.#realms.get(realmId)?.size ?? 0;
  }

  /** Number of items of a user, and of users of the realm who have any. */
  sizesOf({ realmId, userId }: Tenant): { own: number; users: number } {
    const users = this.#realms.get(realmId)?.users;
    return { own: users?.get(userId)?.size ?? 0, users: users?.size ?? 0 };
  }

  /** Returns a function that removes the item if it is still in the queue; undefined if there is no room. */
  push({ realmId, userId }: Tenant, item: T): (() => void) | undefined {
    const realm = this.#realms.get(realmId) ?? { size: 0, users: new Map() };
    if (realm.size >= this.#maxSize - this.#size) return undefined;
    const items = realm.users.get(userId) ?? new Set();
    const box = { item };
    items.add(box);
    realm.users.set(userId, items);
    realm.size++;
    this.#size++;
    this.#realms.set(realmId, realm);
    return () => {
      if (!items.delete(box)) return;
      this.#size--;
      realm.size--;
      if (items.size === 0 && realm.users.get(userId) === items) realm.users.delete(userId);
      if (realm.size === 0 && this.#realms.get(realmId) === realm) this.#realms.delete(realmId);
    };
  }

  /** Removes the next item of the next realm that may have a turn, among its users that `isUser` accepts. */
  shift(mayHaveTurn?: (realmId: number) => boolean, isUser?: (userId: number) => boolean): T | undefined {
    const [realmId, realm] = first(this.#realms, mayHaveTurn);
    const [userId, items] = first(realm?.users, isUser);
    const [box] = items ?? [];
    if (realmId === undefined || userId === undefined || !realm || !items || box === undefined) return undefined;
    items.delete(box);
    this.#size--;
    realm.size--;
    // The remaining items of this user, and of this realm, wait behind those of the others.
    realm.users.delete(userId);
    if (items.size > 0) realm.users.set(userId, items);
    this.#realms.delete(realmId);
    if (realm.size > 0) this.#realms.set(realmId, realm);
    return box.item;
  }
}

function first<K, V>(
  map: Map<K, V> | undefined,
  isEligible: (key: K) => boolean = () => true,
): [K, V] | [undefined, undefined] {
  for (const entry of map ?? []) if (isEligible(entry[0])) return entry;
  return [undefined, undefined];
}
