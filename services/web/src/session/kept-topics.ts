import { namesBelow, store, stored } from '../browser/storage.ts';
import { keptBelow } from './kept-texts.ts';
import { type HeldLocks, ownTab } from './tabs.ts';

/**
 * The topics that the writer has chosen for the next messages of channels. As with texts, each tab has its own entries, and
 * takes those of tabs that are gone.
 */
export class KeptTopics {
  readonly #prefix: string;
  /** Topics by channel, in memory because a browser may not permit storage. */
  readonly #topics = new Map<number, string>();

  constructor(ownId: number, heldLocks: HeldLocks) {
    this.#prefix = keptBelow('topic', ownId);
    for (const name of namesBelow(this.#prefix)) {
      // Entries of earlier releases have no name of a tab.
      const [channelId, tab] = name.slice(this.#prefix.length).split('\n');
      if (heldLocks.has(tab)) continue;
      this.keep(Number(channelId), stored(name) ?? '');
      store(name, undefined);
    }
  }

  get(channelId: number): string {
    return this.#topics.get(channelId) ?? '';
  }

  keep(channelId: number, topic: string): void {
    this.#topics.set(channelId, topic);
    store(`${this.#prefix}${channelId}\n${ownTab}`, topic === '' ? undefined : topic);
  }
}
