import { ChatError, type LogEvent } from '@natter/contracts';

/** Limit per unit. The largest requests (subscribing a thousand users to ten channels) emit less than half of it. */
const maxEvents = 25_000;
/** Size of one event, and of all events of a unit, as JSON: each is written, sent and parsed in one piece. */
const maxEventBytes = 8 * 1024 * 1024;
const maxUnitBytes = 32 * 1024 * 1024;
/** Estimated length of an id in JSON. */
export const bytesPerNumber = 8;

/**
 * Returns a function that throws REQUEST_TOO_LARGE when a unit emits too many events, or too large ones. Sizes are
 * estimated before anything is serialized. A consumer cannot refuse the consequences of an event, so the sizes of the events
 * that it emits have no limit.
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

/** Throws if a unit may not emit this many events. `emit` checks it too; call this first if much work comes before `emit`. */
export function requireEventRoom(count: number): void {
  if (count > maxEvents) throw tooMuch();
}

/** Throws if an event may not have this size. `emit` checks it too; call this before a large event is built. */
export function requireEventBytes(bytes: number): void {
  if (bytes > maxEventBytes) throw tooMuch();
}

const tooMuch = (): ChatError => new ChatError('REQUEST_TOO_LARGE', 'The request changes too much at once');

/**
 * An estimate of the bytes of a value as JSON. It stops counting above `most`, and estimates lists of numbers by their length.
 */
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
