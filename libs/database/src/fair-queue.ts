export interface Owner {
  realmId: number;
  userId: number;
}

/** Takes turns between realms, and within a realm between its users: many tasks of one delay those of others by one each. */
export class FairQueue<T> {
  readonly #realms = new Map<number, Map<number, T[]>>();
  readonly #maxSize: number;
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  /** False when the queue is full. */
  push({ realmId, userId }: Owner, item: T): boolean {
    if (this.#size >= this.#maxSize) return false;
    this.#size++;
    const users = this.#realms.get(realmId) ?? new Map<number, T[]>();
    const items = users.get(userId) ?? [];
    items.push(item);
    users.set(userId, items);
    this.#realms.set(realmId, users);
    return true;
  }

  shift(): T | undefined {
    const [realmId, users] = first(this.#realms);
    const [userId, items] = first(users);
    const item = items?.shift();
    if (realmId === undefined || userId === undefined || !users || !items || item === undefined) return undefined;
    this.#size--;
    // What remains waits behind the others.
    users.delete(userId);
    if (items.length > 0) users.set(userId, items);
    this.#realms.delete(realmId);
    if (users.size > 0) this.#realms.set(realmId, users);
    return item;
  }
}

function first<K, V>(map: Map<K, V> | undefined): [K, V] | [undefined, undefined] {
  for (const entry of map ?? []) return entry;
  return [undefined, undefined];
}
