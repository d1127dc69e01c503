import type { LogEvent } from '@natter/contracts';
import { stringBytes } from '@natter/service-kit';

/** The texts that queues share of events, so that an event is written once for all queues with an equal view of it. */
export interface EventTexts {
  /** The event for one profile as JSON without the closing brace, made on first use; undefined if there is none. */
  once(event: LogEvent, profile: string, make: () => Record<string, unknown> | undefined): string | undefined;
  /** Memory of the texts, also of those whose event is no longer in memory. */
  readonly bytes: number;
}

type Written = WeakMap<LogEvent, Map<string, string | null>>;

/** Memory of the lists that hold a text. */
const perText = 200;

/**
 * Forgets all texts when they take `maxBytes`: those that are still needed are written again, once. A text that is larger
 * is not kept.
 */
export function createEventTexts(maxBytes: number): EventTexts {
  let written: Written = new WeakMap();
  let bytes = 0;

  function keep(event: LogEvent, profile: string, text: string | null): void {
    const size = perText + stringBytes(profile) + stringBytes(text ?? '');
    if (size > maxBytes) return;
    if (bytes + size > maxBytes) {
      written = new WeakMap();
      bytes = 0;
    }
    const texts = written.get(event) ?? new Map();
    written.set(event, texts.set(profile, text));
    bytes += size;
  }

  return {
    once(event, profile, make) {
      const known = written.get(event)?.get(profile);
      if (known !== undefined) return known ?? undefined;
      const made = make();
      const text = made === undefined ? null : JSON.stringify(made).slice(0, -1);
      keep(event, profile, text);
      return text ?? undefined;
    },
    get bytes() {
      return bytes;
    },
  };
}
