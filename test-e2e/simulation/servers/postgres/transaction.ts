import type { Locks } from './locks.ts';
import { PostgresError } from './postgres-error.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Table = Map<string, Row>;

/** Committed data. Rows are replaced, never modified. */
export class Store {
  readonly tables = new Map<string, Table>();

  table(name: string): Table {
    let table = this.tables.get(name);
    if (!table) {
      table = new Map();
      this.tables.set(name, table);
    }
    return table;
  }
}

/** READ COMMITTED: sees committed data and its own writes; `commit` makes its writes visible at once. */
export class Transaction {
  lockTimeoutMs = 10_000;
  idleMs = 60_000;
  readonly startedAt: number;
  /** REPEATABLE READ: sees the clocks as of its first statement. */
  isSnapshot = false;
  /** The last numbers of the realms to which `log.append_many` has appended. */
  readonly appended = new Map<number, number>();
  readonly #store: Store;
  readonly #locks: Locks;
  readonly #writes = new Map<string, Map<string, Row | undefined>>();
  #frozen: Table | undefined;

  constructor(store: Store, locks: Locks, startedAt: number) {
    this.#store = store;
    this.#locks = locks;
    this.startedAt = startedAt;
  }

  get hasWritten(): boolean {
    return this.#writes.size > 0;
  }

  get(table: string, key: string): Row | undefined {
    const own = this.#writes.get(table);
    if (own?.has(key)) return own.get(key);
    return this.#committed(table).get(key);
  }

  put(table: string, key: string, row: Row | undefined): void {
    let own = this.#writes.get(table);
    if (!own) {
      own = new Map();
      this.#writes.set(table, own);
    }
    own.set(key, row);
  }

  /** Rows with their keys. */
  *rows(table: string): Generator<[string, Row]> {
    const own = this.#writes.get(table);
    for (const [key, row] of this.#committed(table)) if (!own?.has(key)) yield [key, row];
    for (const [key, row] of own ?? []) if (row) yield [key, row];
  }

  lock(name: string, mode?: 'shared' | 'exclusive'): Promise<void> {
    return this.#locks.take(this, name, mode);
  }

  tryLock(name: string, mode?: 'shared' | 'exclusive'): boolean {
    return this.#locks.tryTake(this, name, mode);
  }

  /** Inserts a row under a unique key, after waiting for concurrent inserts of it. False if it exists. */
  async insert(table: string, key: string, row: Row): Promise<boolean> {
    await this.lock(`${table} ${key}`);
    if (this.get(table, key)) return false;
    this.put(table, key, row);
    return true;
  }

  commit(): void {
    for (const [name, own] of this.#writes) {
      const table = this.#store.table(name);
      for (const [key, row] of own)
        if (row) table.set(key, row);
        else table.delete(key);
    }
    this.#locks.release(this);
  }

  rollBack(): void {
    this.#locks.interrupt(this, new PostgresError('57P01', 'terminating connection'));
    this.#locks.release(this);
  }

  /** Takes the snapshot, which the first statement of a REPEATABLE READ transaction does. */
  freeze(): void {
    if (this.isSnapshot) this.#committed('log.clock');
  }

  #committed(name: string): Table {
    const table = this.#store.table(name);
    if (!this.isSnapshot) return table;
    if (name !== 'log.clock') throw new Error(`The stand-in has no snapshot of ${name}`);
    this.#frozen ??= new Map(table);
    return this.#frozen;
  }
}
