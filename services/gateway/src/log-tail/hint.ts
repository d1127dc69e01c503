import type { LogEntry } from '@natter/contracts';
import type { Position } from './kept-entries.ts';

/** The announcement of a service that wrote to the log: the entries, or only the number of the last one. */
export interface Hint {
  signature?: string;
  entries?: LogEntry[];
  upTo?: number;
  /** The last ephemeral entry before these. */
  behind?: Position;
}

/** Undefined for a payload that no service can have published. */
export function hintOf(payload: Uint8Array): Hint | undefined {
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString());
  } catch {
    return undefined;
  }
}

/** Whether the hint shows that ephemeral entries are missing between a position and an announced entry. */
export function skipsEphemeral({ number, n }: LogEntry, position: Position, behind: Position | undefined): boolean {
  if (n > 0) return number === position.number && n > position.n + 1;
  return number === position.number + 1 && behind?.number === position.number && behind.n > position.n;
}
