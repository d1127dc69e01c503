import type { Client } from '@natter/client';

const delayMs = 300;

/** Marks messages that were on screen as read, together. */
export class ReadMarker {
  readonly #client: Client;
  readonly #onRead: (ids: readonly number[]) => void;
  readonly #toRead = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether messages on screen stay unread, because the reader marked some as unread. */
  keepsUnread = false;

  /** `onRead` is called before the server knows. */
  constructor(client: Client, onRead: (ids: readonly number[]) => void) {
    this.#client = client;
    this.#onRead = onRead;
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
    const messages = [...this.#toRead];
    this.#toRead.clear();
    this.#timer = undefined;
    if (messages.length === 0) return;
    this.#onRead(messages);
    await this.#client
      .updateFlags({ messages, op: 'add', flag: 'read' }, { retryForMs: Number.POSITIVE_INFINITY })
      .catch(() => undefined);
  }
}
