import type { Client } from '@natter/client';

const delayMs = 300;

interface Screen {
  /** Whether the message is still there. */
  isKnown: (id: number) => boolean;
  /** Called before the server knows. */
  onRead: (ids: readonly number[]) => void;
}

/** Marks messages that were on screen as read, together. */
export class ReadMarker {
  readonly #client: Client;
  readonly #screen: Screen;
  readonly #toRead = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether messages on screen stay unread, because the reader marked some as unread. */
  keepsUnread = false;

  constructor(client: Client, screen: Screen) {
    this.#client = client;
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
    if (this.#toRead.size > 0) this.#timer ??= setTimeout(() => void this.#markRead(), delayMs);
  }

  async #markRead(): Promise<void> {
    const messages = [...this.#toRead].filter(this.#screen.isKnown);
    this.#toRead.clear();
    this.#timer = undefined;
    if (messages.length === 0) return;
    this.#screen.onRead(messages);
    await this.#client
      .updateFlags({ messages, op: 'add', flag: 'read' }, { retryForMs: Number.POSITIVE_INFINITY })
      .catch(() => undefined);
  }
}
