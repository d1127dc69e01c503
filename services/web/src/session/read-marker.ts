import type { Client } from '@natter/client';

/** From one request to the next, while messages keep arriving: a person has 200 requests a minute for everything. */
const gatherMs = 2_000;

interface Clients {
  client: Client;
  /** A client whose requests the browser completes even after the page is closed. */
  parting: Client;
}

interface Screen {
  /** Whether the message is still there. */
  isKnown: (id: number) => boolean;
  /** Called before the request is sent to the server. */
  onRead: (ids: readonly number[]) => void;
}

/** Marks messages that were on screen as read: the first at once, those that follow soon together. */
export class ReadMarker {
  readonly #clients: Clients;
  readonly #screen: Screen;
  readonly #toRead = new Set<number>();
  /** The messages of the request that is in flight; empty if there is none. */
  #sent: readonly number[] = [];
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether messages on screen stay unread, because the reader marked some as unread. */
  keepsUnread = false;

  constructor(clients: Clients, screen: Screen) {
    this.#clients = clients;
    this.#screen = screen;
  }

  /** Messages on screen stay unread, until another page is opened. */
  keepUnread(): void {
    this.keepsUnread = true;
    this.#toRead.clear();
  }

  seen(ids: readonly number[]): void {
    if (this.keepsUnread) return;
    for (const id of ids) this.#toRead.add(id);
    this.#plan();
  }

  /** The page goes, and with it the request that is not answered yet. */
  leave(): void {
    const messages = [...(this.keepsUnread ? [] : this.#sent), ...this.#take()];
    if (messages.length === 0) return;
    void this.#clients.parting
      .updateFlags({ messages, op: 'add', flag: 'read' }, { retryForMs: 0 })
      .catch(() => undefined);
  }

  #plan(): void {
    if (this.#toRead.size === 0 || this.#sent.length > 0) return;
    const waitMs = Math.max(0, this.#sentAt + gatherMs - performance.now());
    this.#timer ??= setTimeout(() => void this.#markRead(), waitMs);
  }

  #take(): number[] {
    const messages = [...this.#toRead].filter(this.#screen.isKnown);
    this.#toRead.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return messages;
  }

  async #markRead(): Promise<void> {
    const messages = this.#take();
    if (messages.length === 0) return;
    this.#sent = messages;
    this.#sentAt = performance.now();
    this.#screen.onRead(messages);
    await this.#clients.client
      .updateFlags({ messages, op: 'add', flag: 'read' }, { retryForMs: Number.POSITIVE_INFINITY })
      .catch(() => undefined);
    this.#sent = [];
    this.#plan();
  }
}
