import type { ChatEvent, Client } from '@natter/client';
import { keyOf, type Narrow, termsOf } from '../state/place.ts';
import type { State } from '../state/state.ts';

const waitMs = 2_000;
const waitAfterFailureMs = 15_000;
/** Maximum number of messages per request; older ones are left out. */
const maxAsked = 200;

interface Screen {
  state: () => State;
  narrow: () => Narrow | undefined;
  /** Shows further results, by ID, with the words marked. */
  found: (key: string, matches: ReadonlyMap<number, string>) => void;
}

/** Only the server can evaluate a search: the client sends it the ids of new messages while results are on screen. */
export class SearchFollower {
  readonly #client: Client;
  readonly #screen: Screen;
  readonly #arrived = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: Client, screen: Screen) {
    this.#client = client;
    this.#screen = screen;
  }

  arrived(event: ChatEvent): void {
    if (event.type !== 'message' || this.#screen.narrow()?.kind !== 'search') return;
    this.#arrived.add(event.message.id);
    this.#timer ??= setTimeout(() => void this.#ask(), waitMs);
  }

  async #ask(): Promise<void> {
    this.#timer = undefined;
    const narrow = this.#screen.narrow();
    const ids = [...this.#arrived].slice(-maxAsked);
    this.#arrived.clear();
    if (narrow?.kind !== 'search' || ids.length === 0) return;
    const key = keyOf(narrow);
    const view = this.#screen.state().views.get(key);
    // A page without the newest messages gets them when the reader comes to its end.
    if (view && !view.hasNewest) return;
    try {
      if (!view) throw new Error('The results are being loaded');
      const { messages } = await this.#client.matchNarrow({ msg_ids: ids, narrow: termsOf(narrow) });
      const matches = Object.entries(messages).map(([id, { match_content }]) => [Number(id), match_content] as const);
      if (matches.length > 0) this.#screen.found(key, new Map(matches));
    } catch {
      for (const id of ids) this.#arrived.add(id);
      this.#timer ??= setTimeout(() => void this.#ask(), view ? waitAfterFailureMs : waitMs);
    }
  }
}
