import { AsyncLocalStorage } from 'node:async_hooks';
import { lockOf } from '@natter/contracts';
import { withoutCost } from './cost.ts';
import type { Database } from './database.ts';
import { currentDeadline, untilDeadline, withDeadline, withoutDeadline } from './deadline.ts';
import { createLanes } from './lanes.ts';
import { lockText } from './lock.ts';
import { sqlState } from './sql-state.ts';
import { withPriority } from './turns.ts';

/**
 * The gates of a realm's versions: advisory locks. The commit of a unit that bumps versions checks the gate of their owner,
 * and fails while other work holds it. Work that repeats a decision after conflicts holds the gates, so that the versions
 * that it uses do not change. Gates only order the work: only the expected versions decide whether a change is committed
 * (ADR 18).
 */
export interface Gates {
  /** Runs `work` while no other work changes versions of `owners`. */
  hold<R>(realmId: number, owners: ReadonlySet<GateOwner>, work: () => Promise<R>): Promise<R>;
  /**
   * Runs a unit of work behind this service's gate; the unit begins with the given statements. One at a time in this
   * process, so that waiting units take no connections.
   */
  enter<R>(realmId: number, unit: (locks: string[]) => Promise<R>): Promise<R>;
}

/** Advisory locks, by the schema of the service that bumps the versions. Locked in this order. */
const gateOf = { users: 'gate:users', channels: 'gate:channels' } as const;
export type GateOwner = keyof typeof gateOf;
const isOwner = (schema: string): schema is GateOwner => schema in gateOf;
/**
 * Whether decisions of the service depend on each other's changes. The decisions of channels depend on versions of
 * `users`, and on their own rows.
 */
const isAlone = (schema: string): boolean => schema === 'users';

/** The owner of the gate that blocks changes of the version. */
export const gateOwnerOf = (key: string): GateOwner => (/^(channel:|group-uses$)/.test(key) ? 'channels' : 'users');

/** A gate is held for at most this long, however long the work takes, because others wait for it. */
const longestMs = 2_000;
const waitMs = 4_000;
/** Work that begins within this time shares a gate. Later work waits for it again, behind the units that bump versions. */
const joinMs = 20;
/**
 * How long units of one process follow each other behind a gate before other processes have their turn: as long as this
 * process had to wait for the gate, within these bounds.
 */
const leastTurnMs = 200;
const mostTurnMs = 1_000;

const passing = new AsyncLocalStorage<number>();

/** The statement with which a commit that bumps versions checks the gate. There is none if this work holds the gate itself. */
export function passGate(realmId: number, schema: string): string[] {
  if (!isOwner(schema) || passing.getStore() === realmId) return [];
  return [passGateOf(realmId, schema)];
}

const passGateOf = (realmId: number, owner: GateOwner): string =>
  `SELECT log.pass_gate(${realmId}, ${lockOf(gateOf[owner]).number})`;

interface Hold {
  /** Whether the gate is held; false if no connection was available. */
  isHeld: boolean;
  /** Resolves when the locks are held, or when acquiring them has failed. */
  opened: Promise<void>;
  close: () => void;
}

interface SharedHold extends Hold {
  members: number;
}

/** A gate that this process holds exclusively. Units that wait for it in this process run one after another. */
interface Turn extends Hold {
  locks: string;
  /** In terms of `performance.now()`; infinite until the gate is held. */
  endsAt: number;
}

/** `maxHolds`: each hold takes a connection of the pool. If this many are taken, further work runs without gates. */
export function createGates(database: Database, schema: string, maxHolds: number): Gates {
  const inLane = createLanes((realmId) => endTurn(Number(realmId)));
  const shared = new Map<string, SharedHold>();
  const turns = new Map<number, Turn>();
  let holds = 0;

  const locksOf = (owners: (owner: GateOwner) => boolean, realmId: number): string =>
    Object.keys(gateOf)
      .filter(isOwner)
      .filter(owners)
      .map((owner) => lockText(gateOf[owner], realmId, owner === schema ? 'alone' : 'shared'))
      .join('; ');

  return {
    hold: (realmId, owners, work) => {
      if (!isAlone(schema)) {
        // Such a service takes its own gate only for its units (`enter`), so that its decisions do not wait for each other.
        const locks = locksOf((owner) => owners.has(owner) && owner !== schema, realmId);
        return locks === '' ? work() : shareHold(locks, work);
      }
      if (passing.getStore() === realmId) return work();
      const locks = locksOf((owner) => owners.has(owner) || owner === schema, realmId);
      return inLane(String(realmId), () => inTurn(realmId, locks, work));
    },
    enter: (realmId, unit) => {
      if (!isOwner(schema) || passing.getStore() === realmId) return unit([]);
      const lock = lockText(gateOf[schema], realmId);
      return inLane(String(realmId), (hasNext) => enterInLane(realmId, { owner: schema, lock, unit }, hasNext()));
    },
  };

  async function enterInLane<R>(
    realmId: number,
    { owner, lock, unit }: { owner: GateOwner; lock: string; unit: (locks: string[]) => Promise<R> },
    hasNext: boolean,
  ): Promise<R> {
    if (holds >= maxHolds && !turns.has(realmId)) return passing.run(realmId, () => unit([lock]));
    // If no other unit of this process waits, the unit checks the gate in its own transaction, which is cheaper.
    if (!hasNext && !turns.has(realmId))
      try {
        return await passing.run(realmId, () => unit([passGateOf(realmId, owner)]));
      } catch (error) {
        if (sqlState(error) !== 'NT409') throw error;
      }
    return inTurn(realmId, lock, () => unit([]));
  }

  /**
   * Runs work behind the gate, which stays held for waiting units of this process until its turn ends. If
   * another process got the gate after every unit, each unit would wait for work of other processes.
   */
  async function inTurn<R>(realmId: number, locks: string, work: () => Promise<R>): Promise<R> {
    const turn = continuedTurn(realmId, locks) ?? beginTurn(realmId, locks);
    await untilDeadline(turn.opened);
    return passing.run(realmId, () => (turns.get(realmId) === turn ? withPriority(work) : work()));
  }

  function continuedTurn(realmId: number, locks: string): Turn | undefined {
    const turn = turns.get(realmId);
    if (turn?.locks.startsWith(locks) && performance.now() < turn.endsAt) return turn;
    endTurn(realmId);
    return undefined;
  }

  function beginTurn(realmId: number, locks: string): Turn {
    const hold = withPriority(() => open(locks, () => forget(turn)));
    const turn: Turn = { ...hold, locks, endsAt: Number.POSITIVE_INFINITY };
    const forget = (ended: Turn): void => {
      if (turns.get(realmId) === ended) turns.delete(realmId);
    };
    if (hold.isHeld) turns.set(realmId, turn);
    const askedAt = performance.now();
    turn.opened.then(() => {
      const now = performance.now();
      turn.endsAt = now + Math.min(Math.max(now - askedAt, leastTurnMs), mostTurnMs);
    });
    return turn;
  }

  function endTurn(realmId: number): void {
    turns.get(realmId)?.close();
    turns.delete(realmId);
  }

  async function shareHold<R>(locks: string, work: () => Promise<R>): Promise<R> {
    const hold = shared.get(locks) ?? openShared(locks);
    hold.members++;
    try {
      await untilDeadline(hold.opened);
      return await work();
    } finally {
      hold.members--;
      if (hold.members === 0) {
        part(locks, hold);
        hold.close();
      }
    }
  }

  function part(locks: string, hold: Hold): void {
    if (shared.get(locks) === hold) shared.delete(locks);
  }

  function openShared(locks: string): SharedHold {
    const hold = { ...open(locks, () => undefined), members: 0 };
    shared.set(locks, hold);
    hold.opened.then(() => setTimeout(() => part(locks, hold), joinMs));
    return hold;
  }

  /** A transaction that holds the locks until it is closed. If they cannot be acquired, the work runs without them. */
  function open(locks: string, whenEnded: () => void): Hold {
    if (holds >= maxHolds) return { isHeld: false, opened: Promise.resolve(), close: () => undefined };
    holds++;
    let close: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    const patience = currentDeadline()?.patience;
    const opened = new Promise<void>((resolve) => {
      const holding = () =>
        database.connect(async (connection) => {
          const begin = `BEGIN; SET LOCAL lock_timeout = ${waitMs}; SET LOCAL idle_in_transaction_session_timeout = ${2 * longestMs}; ${locks}`;
          await withoutCost(() => connection.query(begin));
          resolve();
          const timer = setTimeout(close, longestMs);
          await closed;
          clearTimeout(timer);
          await connection.query('COMMIT');
        });
      const held = withoutDeadline(() => withDeadline(waitMs + longestMs, holding, patience));
      held
        .catch(() => undefined)
        .finally(() => {
          holds--;
          whenEnded();
          resolve();
        });
    });
    return { isHeld: true, opened, close };
  }
}
