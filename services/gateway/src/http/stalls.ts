import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayConfig } from './config.ts';

/** A chunk of a response may take the time of one stall, plus one more for this many bytes. */
const stallBytes = 256 * 1024;
/** Maximum size of a chunk in which a response is written. */
const maxChunkBytes = 1024 * 1024;

export interface Transfer {
  /** Bytes transferred at the last progress. */
  bytes: number;
  at: number;
}

export interface BodyTransfer extends Transfer {
  request: IncomingMessage;
  startBytes: number;
  startedAt: number;
}

/** Finds transfers without progress. Call it in every interval of `everyMs`. */
export interface Stalls {
  everyMs: number;
  /** Whether this process did not run in the last interval. The transfers get that time in addition, and are not stalled. */
  wereMissed(transfers: Iterable<{ answer: Transfer; body: BodyTransfer | undefined }>): boolean;
  isAnswerStalled(socket: Socket, answer: Transfer): boolean;
  isBodyStalled(socket: Socket, body: BodyTransfer): boolean;
}

export function createStalls(config: GatewayConfig): Stalls {
  const stallMs = config.NATTER_STALL_SECONDS * 1_000;
  const bytesPerMs = config.NATTER_MIN_BYTES_PER_SECOND / 1_000;
  const everyMs = Math.min(5_000, stallMs / 2);
  let lookedAt = performance.now();
  return {
    everyMs,
    wereMissed(transfers) {
      const now = performance.now();
      const lateMs = now - lookedAt - everyMs;
      lookedAt = now;
      if (lateMs <= everyMs) return false;
      const later = (at: number): number => Math.min(now, at + lateMs);
      for (const { answer, body } of transfers) {
        answer.at = later(answer.at);
        if (body) Object.assign(body, { at: later(body.at), startedAt: later(body.startedAt) });
      }
      return true;
    },
    /** Progress is visible only when a whole chunk was accepted, so a large chunk has more time. */
    isAnswerStalled(socket, answer) {
      const now = performance.now();
      const pending = socket.writableLength;
      const sent = socket.bytesWritten - pending;
      if (pending === 0 || sent !== answer.bytes) {
        answer.bytes = sent;
        answer.at = now;
        return false;
      }
      return now - answer.at > stallMs * (1 + Math.min(pending, maxChunkBytes) / stallBytes);
    },
    isBodyStalled(socket, body) {
      if (body.request.complete) return false;
      const now = performance.now();
      const isIdle = socket.bytesRead === body.bytes && now - body.at > stallMs;
      if (socket.bytesRead !== body.bytes) {
        body.bytes = socket.bytesRead;
        body.at = now;
      }
      return isIdle || body.bytes - body.startBytes < (now - body.startedAt - stallMs) * bytesPerMs;
    },
  };
}
