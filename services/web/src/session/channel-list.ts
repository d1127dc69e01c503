import type { ChatEvent, Client } from '@natter/client';
import type { RawListed } from '../state/listed.ts';
import type { Action } from '../state/state.ts';

interface Load {
  /** Events since the request. */
  since: ChatEvent[];
  end: Promise<void>;
}

/**
 * The channels that the reader has not joined. An organization may have thousands, and few pages name them: they are loaded
 * when a page does.
 */
export class ChannelList {
  readonly #client: Client;
  readonly #dispatch: (action: Action) => void;
  #isLoaded = false;
  #load: Load | undefined;

  constructor(client: Client, dispatch: (action: Action) => void) {
    this.#client = client;
    this.#dispatch = dispatch;
  }

  /** Loads the channels, unless they are known. Rejects with the reason why they are not; the next call tries again. */
  need(): Promise<void> {
    return this.#isLoaded ? Promise.resolve() : this.refresh();
  }

  /** Loads the channels also if they are known: some changes of the right to see a channel have no event. */
  refresh(): Promise<void> {
    return (this.#load ?? this.#begin()).end;
  }

  arrived(event: ChatEvent): void {
    this.#load?.since.push(event);
    // The list has no archived channels, and the event does not name the channel.
    const isBack = event.type === 'stream' && event.op === 'update' && event.property === 'is_archived' && !event.value;
    if (isBack) this.restart();
  }

  /** The list is outdated. */
  restart(): void {
    const isWanted = this.#isLoaded || this.#load !== undefined;
    this.#isLoaded = false;
    // After a failure, the next page that names a channel tries again.
    if (isWanted) this.#begin().end.catch(() => undefined);
  }

  #begin(): Load {
    const since: ChatEvent[] = [];
    const load: Load = { since, end: this.#fetch(since) };
    this.#load = load;
    return load;
  }

  async #fetch(since: ChatEvent[]): Promise<void> {
    const isCurrent = (): boolean => this.#load?.since === since;
    try {
      const { streams } = await this.#client.getChannels();
      if (isCurrent()) {
        this.#isLoaded = true;
        this.#dispatch({ type: 'listed', channels: streams as unknown as RawListed[], since });
      }
    } catch (error) {
      if (isCurrent()) throw error;
    } finally {
      if (isCurrent()) this.#load = undefined;
    }
    // A later load replaces this one.
    await this.#load?.end;
  }
}
