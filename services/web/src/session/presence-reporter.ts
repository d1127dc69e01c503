import type { Client } from '@natter/client';
import type { Action, State } from '../state/state.ts';

/** Time without input after which the person counts as idle. */
const idleAfterMs = 5 * 60_000;
/** Minimum time between two reports. */
const soonestMs = 5_000;
const inputs = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;

interface Store {
  state: () => State;
  dispatch: (action: Action) => void;
}

/** Reports whether the person uses this page, and reads the presence of others from the answers. */
export class PresenceReporter {
  readonly #client: Client;
  readonly #store: Store;
  #inputAt = Date.now();
  #reportedAt = 0;
  #hasInput = true;
  #reported: 'active' | 'idle' | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: Client, store: Store) {
    this.#client = client;
    this.#store = store;
  }

  start(): void {
    const onInput = (): void => {
      this.#inputAt = Date.now();
      this.#hasInput = true;
      if (this.#reported === 'idle') this.#soon();
    };
    for (const name of inputs) addEventListener(name, onInput, { passive: true });
    addEventListener('focus', () => this.#soon());
    addEventListener('blur', () => this.#soon());
    void this.#report();
  }

  get #status(): 'active' | 'idle' {
    return document.hasFocus() && Date.now() - this.#inputAt < idleAfterMs ? 'active' : 'idle';
  }

  /** Reports a change early. */
  #soon(): void {
    if (this.#status !== this.#reported) this.#after(Math.max(0, this.#reportedAt + soonestMs - Date.now()));
  }

  #after(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#report(), ms);
  }

  async #report(): Promise<void> {
    const { presence } = this.#store.state().model;
    this.#after(presence.pingSeconds * 1_000);
    const status = this.#status;
    const params = { status, new_user_input: this.#hasInput, last_update_id: presence.updateId };
    this.#reported = status;
    this.#reportedAt = Date.now();
    this.#hasInput = false;
    try {
      const answer = (await this.#client.updatePresence(params, { retryForMs: 0 })) as unknown as Answer;
      const { presence_last_update_id: updateId, presences, server_timestamp } = answer;
      const clockSkew = Math.round(server_timestamp - Date.now() / 1_000);
      this.#store.dispatch({ type: 'presences', answer: { updateId, presences }, clockSkew });
    } catch {
      // The next report comes in a minute.
    }
  }
}

interface Answer {
  presence_last_update_id: number;
  presences: Record<string, { active_timestamp: number; idle_timestamp: number }>;
  server_timestamp: number;
}
