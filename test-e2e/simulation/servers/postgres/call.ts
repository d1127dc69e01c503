import type { Random } from '../../../random.ts';
import type { PostgresError } from './postgres-error.ts';
import type { Store, Transaction } from './transaction.ts';

export interface Result {
  rows: Record<string, unknown>[];
  rowCount: number;
  fields: { name: string }[];
}

/** The context of a statement. */
export interface Call {
  tx: Transaction;
  values: unknown[];
  /** The schema of the role. */
  role: string;
  server: PostgresServer;
}

/** One connection, on the server side. */
export interface Session {
  /** `I`: no transaction, `T`: in one, `E`: in a failed one. */
  readonly status: 'I' | 'T' | 'E';
  /** Executes all statements of a text sequentially; other work runs in between only if one waits for a lock. */
  execute(text: string, parameters: readonly unknown[], failure?: Failure): Promise<Result[]>;
  /** Ends the waiting statement. */
  cancel(): void;
  /** Rolls back. */
  close(): void;
}

/** Makes a statement of a text fail instead of being executed. */
export interface Failure {
  /** Index of the statement, from 0; the last one if there are fewer. */
  at: number;
  error: PostgresError;
}

export interface PostgresServer {
  readonly store: Store;
  readonly random: Random;
  /** True time in milliseconds. */
  now(): number;
  open(role: string): Session;
  /** An error that every writing statement gets. */
  refusal: PostgresError | undefined;
  /** Probability that other work holds a clock for which `log.append_many` does not wait. */
  clockHeld: number;
  /** Called after each statement, for comparison with a real server. */
  onExecuted: ((executed: Executed) => void) | undefined;
  /** Called when a session ends, even during execution. */
  onClosed: ((session: Session) => void) | undefined;
  onCommit: (() => void) | undefined;
  readonly locksHeld: number;
}

export interface Executed {
  session: Session;
  role: string;
  text: string;
  parameters: readonly unknown[];
  outcome: Result[] | Error;
}
