import type { Address } from './connection.ts';
import type { RequestSpec } from './request.ts';

/** The jobs of a load process. */
export type Job =
  | {
      kind: 'closed';
      address: Address;
      /** Each has one request in flight at any time. */
      connections: number;
      requests: RequestSpec[];
      /** Ends after this time, or after this many answers. */
      ms?: number;
      count?: number;
      /** The value of `%CARRY%`: the first group of this pattern in the last answer on the same connection. */
      carry?: { pattern: string; initial: string };
    }
  | {
      kind: 'paced';
      address: Address;
      requests: RequestSpec[];
      perSecond: number;
      ms: number;
    }
  | {
      kind: 'follow';
      address: Address;
      queues: { queueId: string; lastEventId: number; host: string; authorization: string }[];
    };

export interface LoadResult {
  /** Milliseconds per answer, or per delivery. */
  samples: Float64Array;
  /** Start times by the shared clock. Only for paced and following jobs. */
  startedAt: Float64Array;
  failed: number;
  failures: string[];
  /** Milliseconds until a 429 or 503 with `retry-after`. They count as failed, too. Only for paced jobs. */
  refused: Float64Array;
  seconds: number;
  bytes: number;
  /** Milliseconds of CPU that this process used during the job. */
  cpuMs: number;
}

export type ToWorker =
  | { id: number; job: Job }
  | { id: number; stop: true }
  | { id: number; ask: 'progress' | 'results' };
export type FromWorker =
  | { id: number; result: LoadResult }
  | { id: number; error: string }
  | { id: number; progress: Progress };

export interface Progress {
  /** Polls that were sent and not yet answered. */
  waiting: number;
  delivered: number;
  failed: number;
}
