import { AsyncLocalStorage } from 'node:async_hooks';
import type { Database } from './database.ts';
import { untilDeadline, withDeadline, withoutDeadline } from './deadline.ts';
import { createLanes } from './lanes.ts';

/**
 * The gates of a realm's versions. Whoever bumps versions passes through the gate of their owner with the commit, and fails there while
 * the gate is held. Whoever decides again after a conflict holds the gates, so that what it rests on stands still. Gates only
 * order the work: whether a decision stands is decided by its basis alone (ADR 18).
 */
export interface Gates {
  /** Runs `work` while the versions that this service's decisions rest on stay as they are, but for what `work` itself bumps. */
  hold<R>(realmId: number, work: () => Promise<R>): Promise<R>;
  /**
   * Runs a unit of work that takes this service's gate when it begins, with the statements it is given. One at a time in this process,
   * so that those who wait take no connections.
   */
  enter<R>(realmId: number, unit: (locks: string[]) => Promise<R>): Promise<R>;
}

/** Classes of advisory locks, by the schema of the service that bumps the versions. Locked in this order. */
const gateOf = { users: 7401, channels: 7402 } as const;
/** Whose decisions rest on each other's changes. Those of channels rest on versions of `users`, and on rows of their own. */
const isAlone = (schema: string): boolean => schema === 'users';
const isOwner = (schema: string): schema is keyof typeof gateOf => schema in gateOf;

/** Others wait for whoever holds a gate, so it is held no longer, however long the work takes. */
const longestMs = 2_000;
const waitMs = 4_000;
/** Later arrivals start a new queue, behind the units that wait to bump. */
const joinMs = 20;

const passing = new AsyncLocalStorage<number>();

/** The statement with which a commit of bumps passes the gate; none while this work holds it. */
export function passGate(realmId: number, schema: string): string[] {
  if (!isOwner(schema) || passing.getStore() === realmId) return [];
  return [`SELECT log.pass_gate(${realmId}, ${gateOf[schema]})`];
}

interface Hold {
  /** Resolves when the locks are held, or will not be. */
  opened: Promise<void>;
  close: () => void;
}

interface SharedHold extends Hold {
  members: number;
}

/** `maxHolds`: each takes a connection of the pool; work beyond that number is not protected. */
export function createGates(database: Database, schema: string, maxHolds: number): Gates {
  const inLane = createLanes();
  const shared = new Map<number, SharedHold>();
  let holds = 0;

  const locks = Object.entries(gateOf)
    .filter(([owner]) => owner !== schema || isAlone(schema))
    .map(([owner, gate]) => (realmId: number) => {
      const lock = owner === schema ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
      return `SELECT ${lock}(${gate}, ${realmId})`;
    });

  return {
    hold: (realmId, work) => {
      if (!isAlone(schema)) return together(realmId, work);
      if (passing.getStore() === realmId) return work();
      return inLane(String(realmId), () => alone(realmId, () => passing.run(realmId, work)));
    },
    enter: (realmId, unit) => {
      if (!isOwner(schema) || passing.getStore() === realmId) return unit([]);
      const lock = `SELECT pg_advisory_xact_lock(${gateOf[schema]}, ${realmId})`;
      return inLane(String(realmId), () => passing.run(realmId, () => unit([lock])));
    },
  };

  async function alone<R>(realmId: number, work: () => Promise<R>): Promise<R> {
    const { opened, close } = open(realmId);
    try {
      await untilDeadline(opened);
      return await work();
    } finally {
      close();
    }
  }

  async function together<R>(realmId: number, work: () => Promise<R>): Promise<R> {
    const hold = shared.get(realmId) ?? openShared(realmId);
    hold.members++;
    try {
      await untilDeadline(hold.opened);
      return await work();
    } finally {
      hold.members--;
      if (hold.members === 0) {
        part(realmId, hold);
        hold.close();
      }
    }
  }

  function part(realmId: number, hold: Hold): void {
    if (shared.get(realmId) === hold) shared.delete(realmId);
  }

  function openShared(realmId: number): SharedHold {
    const hold = { ...open(realmId), members: 0 };
    shared.set(realmId, hold);
    hold.opened.then(() => setTimeout(() => part(realmId, hold), joinMs));
    return hold;
  }

  /** A transaction that holds the locks until it is closed. What cannot be held is gone without. */
  function open(realmId: number): Hold {
    if (holds >= maxHolds) return { opened: Promise.resolve(), close: () => undefined };
    holds++;
    let close: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const opened = new Promise<void>((resolve) => {
      const held = withoutDeadline(() =>
        withDeadline(waitMs + longestMs, () =>
          database.connect(async (connection) => {
            await connection.query(
              `BEGIN; SET LOCAL lock_timeout = ${waitMs}; SET LOCAL idle_in_transaction_session_timeout = ${2 * longestMs}; ${locks.map((lock) => lock(realmId)).join('; ')}`,
            );
            resolve();
            const timer = setTimeout(close, longestMs);
            await closed;
            clearTimeout(timer);
            await connection.query('COMMIT');
          }),
        ),
      );
      held
        .catch(() => undefined)
        .finally(() => {
          holds--;
          resolve();
        });
    });
    return { opened, close };
  }
}
