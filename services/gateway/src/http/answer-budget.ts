import { ChatError, unavailable } from '@natter/contracts';
import { createMemoryShares, type Sender } from './memory-shares.ts';

/** The connection on which a client reads its answers. */
export interface Reader {
  /** Number of bytes that left this process. */
  readonly deliveredBytes: number;
  /** Closes the connection. */
  cut(): void;
}

/** The memory of one answer, from its first byte in memory until the last one has left this process. */
export interface AnswerLease {
  /**
   * Sets the memory of the answer. Returns the reason for a refusal, and changes nothing then. `isRequired`: the answer
   * must be sent, because its request took effect; it is refused only at twice the client's share, or if the process
   * has no memory left.
   */
  resize(bytes: number, isRequired: boolean): ChatError | undefined;
  release(): void;
}

export interface AnswerBudget {
  /** Throws RATE_LIMIT_HIT if the client leaves too much unread; call it before the work for an answer. */
  check(sender: Sender): void;
  open(sender: Sender, reader: Reader): AnswerLease;
  readonly heldBytes: number;
}

interface Unread {
  reader: Reader;
  bytes: number;
  /** When `bytes` was last 0, in milliseconds, and the bytes that had left the process by then. */
  since: number;
  deliveredBefore: number;
  release(): void;
}

/** A younger answer may only be on its way. */
const minAgeMs = 2_000;
/** Least part of the memory of all answers that one search for slow connections frees. */
const freedPart = 1 / 16;

/**
 * Bounds the answers in memory that clients have not read: all of this process, a quarter of that for each client, and
 * half of what other groups leave for each group. A client above its share is refused. In a group above its share the
 * slowest connections are closed first; a small group that has no room closes those of the largest group. A client
 * without unread answers may always receive one.
 */
export function createAnswerBudget(totalBytes: number, now: () => number = () => performance.now()): AnswerBudget {
  const perCaller = totalBytes / 4;
  const shares = createMemoryShares<Unread>(totalBytes);

  /** Closes the connections of the group that read most slowly, until enough memory is free. */
  function cutSlowest(group: string, except: Reader, neededBytes: number): void {
    const at = now();
    const speed = ({ reader, deliveredBefore, since }: Unread): number =>
      (reader.deliveredBytes - deliveredBefore) / (at - since);
    const slow = shares
      .itemsOf(group)
      .filter((answer) => answer.reader !== except && at - answer.since >= minAgeMs)
      .map((answer) => ({ answer, speed: speed(answer) }))
      .sort((a, b) => a.speed - b.speed || b.answer.bytes - a.answer.bytes);
    const enough = shares.heldBytes - Math.max(neededBytes, totalBytes * freedPart);
    const cut = new Set<Reader>();
    for (const { answer } of slow) {
      if (shares.heldBytes <= enough && !cut.has(answer.reader)) continue;
      if (!cut.has(answer.reader)) answer.reader.cut();
      cut.add(answer.reader);
      answer.release();
    }
  }

  /** Returns the reason to refuse `bytes` more, or undefined. */
  function refusalOf({ group, caller }: Sender, reader: Reader, bytes: number, isRequired: boolean) {
    const ofCaller = shares.ofCaller(caller);
    if (ofCaller > 0 && ofCaller + bytes > (isRequired ? 2 : 1) * perCaller) return tooMuchUnread();
    const toCut = shares.toCut(group, bytes);
    if (!toCut) return undefined;
    cutSlowest(toCut.group, reader, toCut.neededBytes);
    const hasRoom = isRequired ? shares.heldBytes + bytes <= totalBytes : shares.roomFor(group, bytes) >= 0;
    return hasRoom ? undefined : unavailable('too many answers are unread');
  }

  return {
    check({ caller }) {
      if (shares.ofCaller(caller) >= perCaller) throw tooMuchUnread();
    },
    open(sender, reader) {
      let isOver = false;
      const answer: Unread = {
        reader,
        bytes: 0,
        since: 0,
        deliveredBefore: 0,
        release() {
          isOver = true;
          shares.add(sender, answer, -answer.bytes);
        },
      };
      return {
        resize(bytes, isRequired) {
          if (isOver) return unavailable('the connection was closed');
          const more = bytes - answer.bytes;
          const refusal = more > 0 ? refusalOf(sender, reader, more, isRequired) : undefined;
          if (refusal) return refusal;
          if (answer.bytes === 0) {
            answer.since = now();
            answer.deliveredBefore = reader.deliveredBytes;
          }
          shares.add(sender, answer, more);
          return undefined;
        },
        release: answer.release,
      };
    },
    get heldBytes() {
      return shares.heldBytes;
    },
  };
}

const tooMuchUnread = (): ChatError =>
  new ChatError('RATE_LIMIT_HIT', 'Too many responses have not been read', { 'retry-after': 1 });
