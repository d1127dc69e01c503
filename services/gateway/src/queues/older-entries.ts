import { eventQueueOperations, type LogEntry, type QueueRecord, type RequestMeta } from '@natter/contracts';
import { type LogRedis, readStream, type Verifier } from '@natter/event-log';
import { type Bus, untilDeadline } from '@natter/service-kit';
import { isAfter, type Position } from '../log-tail/kept-entries.ts';
import type { RealmTail } from '../log-tail/realm-tail.ts';
import { badQueue } from './queue-life.ts';

interface Where {
  meta: RequestMeta;
  tail: RealmTail;
  queue: QueueRecord;
}

/** Reads what is no longer in memory, from Redis or else from the record. Throws BAD_EVENT_QUEUE_ID below the floor. */
export interface OlderEntries {
  /**
   * Leaves no gap, and never reads beyond the tail: the credentials that an entry ends are revoked before the entry is
   * delivered. Empty if the tail has to catch up first. `isComplete`: Redis answered, so that no ephemeral entries are missing
   * that are still stored.
   */
  read(where: Where, from: Position): Promise<{ entries: LogEntry[]; isComplete: boolean }>;
  /** Throws BAD_EVENT_QUEUE_ID for a position that the log does not have yet. */
  checkNotAhead(where: Where, from: Position): Promise<void>;
}

export function createOlderEntries(bus: Bus, log: LogRedis, verifier: Verifier): OlderEntries {
  return {
    async read({ meta, tail, queue }, from) {
      const { entries, isComplete } = await readBehind(meta, queue, from);
      return { entries: entries.filter((entry) => !isAfter(entry, tail.position)), isComplete };
    },

    async checkNotAhead({ meta, tail, queue }, from) {
      if (from.number <= tail.position.number) return;
      await untilDeadline(tail.catchUp());
      if (from.number <= tail.position.number) return;
      const record = await bus.call(
        eventQueueOperations.readLog,
        { after: from.number, limit: 1, mark: undefined },
        { meta },
      );
      if (from.number > record.clock || record.epoch !== queue.epoch) throw badQueue(queue.queue_id);
    },
  };

  async function readBehind(meta: RequestMeta, queue: QueueRecord, from: Position) {
    const read = await readStream(log, verifier, queue.realm_id, from).catch(() => undefined);
    const first = read?.entries[0];
    if (read && first && (first.number === from.number || (first.number === from.number + 1 && first.n === 0)))
      return { entries: read.entries, isComplete: true };
    const record = await bus.call(
      eventQueueOperations.readLog,
      { after: from.number, limit: 500, mark: undefined },
      { meta },
    );
    if (record.floor > from.number || record.epoch !== queue.epoch) throw badQueue(queue.queue_id);
    const entries = record.entries as LogEntry[];
    const next = entries[0];
    if (next && next.number !== from.number + 1) throw badQueue(queue.queue_id);
    return { entries, isComplete: read !== undefined };
  }
}
