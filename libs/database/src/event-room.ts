import { ChatError, type LogEvent } from '@natter/contracts';

/** Limit per unit. The largest requests (a thousand users into ten channels) announce less than half of it. */
const maxEvents = 25_000;
/** Size of one event, and of all events of a unit, as JSON: each is written, sent and parsed in one piece. */
const maxEventBytes = 8 * 1024 * 1024;
const maxUnitBytes = 32 * 1024 * 1024;
/** About as much as an id takes as JSON. */
export const bytesPerNumber = 8;

/**
 * Returns a function that throws REQUEST_TOO_LARGE when a unit announces too many events, or too large ones. Sizes are
 * estimated before anything is serialized. What follows from an event cannot be refused, so the sizes of events that a
 * consumer emits have no limit.
 */
export function createEventRoom(isConsumer = false): (event: LogEvent) => void {
  let count = 0;
  let bytes = 0;
  return (event) => {
    requireEventRoom(++count);
    if (isConsumer) return;
    const size = sizeOf(event, maxEventBytes);
    requireEventBytes(size);
    bytes += size;
    if (bytes > maxUnitBytes) throw tooMuch();
  };
}

/** Refuses a unit that announces this many events. `emit` does it too; call this before work that would be in vain. */
export function requireEventRoom(count: number): void {
  if (count > maxEvents) throw tooMuch();
}

/** Refuses an event of this size. `emit` does it too; call this before building a larger one. */
export function requireEventBytes(bytes: number): void {
  if (bytes > maxEventBytes) throw tooMuch();
}

const tooMuch = (): ChatError => new ChatError('REQUEST_TOO_LARGE', 'The request changes too much at once');

/** About the bytes of a value as JSON; it stops counting above `most`. Lists of numbers are not looked through. */
function sizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return bytesPerNumber;
  let bytes = 2;
  if (Array.isArray(value)) {
    if (typeof value[0] === 'number') return bytes + value.length * bytesPerNumber;
    for (const item of value) {
      bytes += sizeOf(item, most - bytes) + 1;
      if (bytes > most) return bytes;
    }
    return bytes;
  }
  for (const key in value) {
    bytes += key.length + 4 + sizeOf((value as Record<string, unknown>)[key], most - bytes);
    if (bytes > most) return bytes;
  }
  return bytes;
}
