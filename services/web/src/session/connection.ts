import { ApiError, type Client } from '@natter/client';
import type { Action, State } from '../state/state.ts';

const caughtUpMs = 3_000;

interface ConnectionOptions {
  client: Pick<Client, 'getServerSettings'>;
  state: () => State;
  dispatch: (action: Action) => void;
  tellOthers: () => void;
}

/** Says on screen that the server cannot be reached, and asks for it until it answers. */
export class Connection {
  readonly #options: ConnectionOptions;
  #caughtUpTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** An attempt of this tab. Its failures alone are told to the other tabs: else they would repeat each other. */
  attempted(failure: unknown): void {
    if (failure === undefined || this.#isLost) return;
    if (failure instanceof ApiError && failure.status === 429) return;
    this.#options.tellOthers();
    this.lost();
  }

  /** Also when another tab says so. */
  lost(): void {
    if (this.#isLost) return;
    clearTimeout(this.#caughtUpTimer);
    const { client, dispatch } = this.#options;
    dispatch({ type: 'connection', connection: 'reconnecting' });
    const found = (): void => {
      dispatch({ type: 'connection', connection: 'caught up' });
      this.#caughtUpTimer = setTimeout(() => dispatch({ type: 'connection', connection: 'connected' }), caughtUpMs);
    };
    void client.getServerSettings({}, { retryForMs: Number.POSITIVE_INFINITY }).then(found, found);
  }

  get #isLost(): boolean {
    return this.#options.state().connection === 'reconnecting';
  }
}
