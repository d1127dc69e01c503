import type { ChatEvent } from '@natter/client';
import { keyOf, topicPlace } from '../state/place.ts';
import { problemOf } from './problem.ts';

/** Minimum time between two requests of the list: the server may have to answer with thousands of topics. */
const soonestMs = 30_000;

interface Topic {
  name: string;
  max_id: number;
}

interface Options {
  channelId: number;
  /** Number of topics that are kept. */
  size: number;
  ask: (signal: AbortSignal) => Promise<readonly Topic[]>;
  /** The names, once they are known; otherwise the reason why not. */
  onChange: (known: readonly string[] | undefined, problem: string | undefined) => void;
}

/**
 * The topics of a channel with the newest messages. New messages change the order without a request; the list is requested
 * again only after events that may remove or rename topics.
 */
export class NewestTopics {
  readonly #options: Options;
  #known: readonly Topic[] | undefined;
  /** Topics of messages that arrived since the last request. */
  #arrived: readonly Topic[] = [];
  #request: AbortController | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.askNow();
  }

  askNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    this.#askedAt = performance.now();
    this.#arrived = [];
    const { ask, onChange } = this.#options;
    ask(request.signal).then(
      (topics) => {
        if (request.signal.aborted) return;
        this.#known = topics.slice(0, this.#options.size);
        for (const one of this.#arrived) this.#known = this.#with(this.#known, one);
        this.#report();
      },
      (error: unknown) => {
        if (request.signal.aborted) return;
        if (!this.#known) onChange(undefined, problemOf(error));
        this.askSoon();
      },
    );
  }

  /** Asks for the list again, as soon as that is allowed. */
  askSoon(): void {
    const waitMs = this.#askedAt + soonestMs - performance.now();
    if (waitMs <= 0) this.askNow();
    else this.#timer ??= setTimeout(() => this.askNow(), waitMs);
  }

  arrived(event: ChatEvent): void {
    const { channelId } = this.#options;
    if (event.type === 'message') {
      const { message } = event;
      if (message.type === 'stream' && message.stream_id === channelId)
        this.#put({ name: message.subject, max_id: message.id });
    } else if (event.type === 'update_message') {
      const isMove = event.subject !== undefined || event.new_stream_id !== undefined;
      if (isMove && (event.stream_id === channelId || event.new_stream_id === channelId)) this.askSoon();
    } else if (event.type === 'delete_message') {
      if (event.message_type === 'stream' && event.stream_id === channelId) this.askSoon();
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#request?.abort();
  }

  #put(topic: Topic): void {
    this.#arrived = this.#with(this.#arrived, topic);
    if (!this.#known) return;
    this.#known = this.#with(this.#known, topic);
    this.#report();
  }

  /** The list with a topic in its place by its newest message. */
  #with(topics: readonly Topic[], topic: Topic): readonly Topic[] {
    const key = this.#keyOf(topic);
    if (topics.some((one) => this.#keyOf(one) === key && one.max_id >= topic.max_id)) return topics;
    return [...topics.filter((one) => this.#keyOf(one) !== key), topic]
      .sort((a, b) => b.max_id - a.max_id)
      .slice(0, this.#options.size);
  }

  #keyOf({ name }: Topic): string {
    return keyOf(topicPlace(this.#options.channelId, name));
  }

  #report(): void {
    this.#options.onChange(
      this.#known?.map(({ name }) => name),
      undefined,
    );
  }
}
