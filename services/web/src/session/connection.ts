import { ApiError, type Client } from '@natter/client';
import type { Action, Outgoing, State } from '../state/state.ts';

const caughtUpMs = 3_000;
/** Interval of the check whether the waiting messages are sent. */
const waitingMs = 250;

interface ConnectionOptions {
  client: Pick<Client, 'getServerSettings'>;
  state: () => State;
  dispatch: (action: Action) => void;
  notifyOthers: () => void;
}

const isWaiting = ({ problem, sentAs }: Outgoing): boolean => problem === undefined && sentAs === undefined;

/** Whether a request failed in a way in which all may fail. */
const isOfServer = (failure: unknown): boolean => !(failure instanceof ApiError) || failure.status >= 500;

/** Shows that the server cannot be reached, and sends requests until it answers. */
export class Connection {
  readonly #options: ConnectionOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Only failures of this tab are sent to other tabs; otherwise tabs would echo each other. */
  attempted(failure: unknown): void {
    const { connection } = this.#options.state();
    if (failure === undefined || connection === 'reconnecting') return;
    if (failure instanceof ApiError && failure.status === 429) return;
    if (connection === 'unsent') this.#ask();
    else this.#failed();
  }

  #failed(): void {
    this.#options.notifyOthers();
    this.lost();
  }

  /**
   * The failed attempt may have been that of a waiting message, which the server does not accept while it answers all else.
   */
  #ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const end = (failure?: unknown): void => {
      this.#isAsking = false;
      if (failure !== undefined && isOfServer(failure) && this.#options.state().connection === 'unsent') this.#failed();
    };
    void this.#options.client.getServerSettings({}, { retryForMs: 0 }).then(() => end(), end);
  }

  /** Handles a lost connection. Also called when another tab reports a failure. */
  lost(): void {
    const { client, dispatch, state } = this.#options;
    if (state().connection === 'reconnecting') return;
    clearTimeout(this.#timer);
    dispatch({ type: 'connection', connection: 'reconnecting' });
    const found = (): void => {
      if (state().outbox.some(isWaiting)) {
        if (state().connection !== 'unsent') dispatch({ type: 'connection', connection: 'unsent' });
        this.#timer = setTimeout(found, waitingMs);
        return;
      }
      dispatch({ type: 'connection', connection: 'caught up' });
      this.#timer = setTimeout(() => dispatch({ type: 'connection', connection: 'connected' }), caughtUpMs);
    };
    void client.getServerSettings({}, { retryForMs: Number.POSITIVE_INFINITY }).then(found, found);
  }
}
