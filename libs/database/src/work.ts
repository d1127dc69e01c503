import type { LogEvent } from '@natter/contracts';
import type { Executor } from './database.ts';
import type { Numbered } from './numbered.ts';

/** A running transaction of one realm. */
export interface Work extends Executor {
  readonly realmId: number;
  /** Adds an event to the commit; returns its offset from the first number of this unit. */
  emit(event: LogEvent): number;
  /** The number of events that the unit has emitted. */
  emitted(): number;
  /** Whether a consumer runs the unit. It cannot refuse the consequences of an event. */
  readonly isConsumer: boolean;
  /** Adds expected versions: they must still be current at the commit. */
  expectVersions(versions: Record<string, number>): void;
  /** Increments the version of this key, which invalidates decisions based on it. */
  bump(key: string): void;
  /**
   * The unit locks the clock at its commit, also if it emits and bumps nothing: then every send either is committed before it,
   * or sees what it changed.
   */
  lockClock(): void;
  /**
   * Adds a row that contains a log number. It is written with the commit, after the events, so its statement can use
   * `log.last_number(realm)`.
   */
  numbered(row: Numbered): void;
}

/** The result of a consumer's handler; most handlers return nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing has finished.
export type Handled = 'unfinished' | void;
