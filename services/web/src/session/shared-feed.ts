import type { ChatEvent, Feed, FeedOptions, Position } from '@natter/client';
import { applyToModel, type Model, modelOf } from '../state/model.ts';
import type { NewModel, Point, Said } from './feed-message.ts';
import { randomId } from './random-id.ts';

interface SharedFeedOptions {
  /** The same for tabs of the same person and the same release; undefined if this browser cannot share. */
  name: string | undefined;
  /** Follows the queue from a position, or registers another one. */
  open: (options: FeedOptions) => Promise<Feed>;
  isVisible: () => boolean;
  onUnreachable: () => void;
}

/** Time limit for the answer of the leader to a ping. Without an answer, the browser may have stopped the leader. */
const answerMs = 10_000;
/** Mean time between two pings to the leader. */
const pingMs = 20_000;

/**
 * Delivers the events of one queue to every tab of a browser. The tab that holds a lock is the leader: it polls, and sends
 * the events to the other tabs. All tabs store the position of the last event, so another tab can continue from there. The
 * server returns events again from any position, so none is lost. Each tab skips events that it has received already.
 */
export class SharedFeed implements AsyncIterable<ChatEvent | NewModel> {
  readonly #options: SharedFeedOptions;
  readonly #id = randomId();
  #channel: BroadcastChannel | undefined;
  #point: Point | undefined;
  #isLeading = false;
  /** Whether events are missing, which the leader's next point contains. */
  #isBehind = false;
  /** Ends the current request of the lock, and the lead. */
  #turn: AbortController | undefined;
  readonly #waiting: (ChatEvent | NewModel)[] = [];
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  /** Runs from a question until the leader is heard. */
  #answerTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the iteration has ended. */
  #isOver = false;
  #failure: { error: unknown } | undefined;
  #wake: () => void = () => undefined;

  private constructor(options: SharedFeedOptions) {
    this.#options = options;
  }

  static async start(options: SharedFeedOptions): Promise<SharedFeed> {
    const feed = new SharedFeed(options);
    feed.join();
    while (!feed.#point) {
      if (feed.#failure) throw feed.#failure.error;
      await feed.#woken();
    }
    return feed;
  }

  /** The state before the next event of the iteration. */
  begin(): Model {
    this.#waiting.length = 0;
    return this.model;
  }

  get model(): Model {
    return (this.#point as Point).model;
  }

  get position(): Position {
    return (this.#point as Point).position;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** Takes part, at the start and after `leave`. */
  join(): void {
    const { name } = this.#options;
    if (this.#turn || this.#isOver) return;
    if (name === undefined) {
      this.#leadAlone();
      return;
    }
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => this.#hear(data as Said);
    void this.#compete(false);
    this.#ask();
    this.#watch();
  }

  /** Releases the lock and ignores messages of other tabs; called when the browser moves the page to its cache. */
  leave(): void {
    this.#turn?.abort();
    this.#turn = undefined;
    this.#isLeading = false;
    this.#channel?.close();
    this.#channel = undefined;
    clearTimeout(this.#pingTimer);
    this.#heard();
  }

  /** A tab on screen leads, because browsers slow down or stop the others. */
  shown(): void {
    if (this.#channel && this.#point && !this.#isLeading) void this.#compete(true);
  }

  /** Notifies the other tabs that the server does not answer. */
  unreachable(): void {
    this.#say({ type: 'unreachable' });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChatEvent | NewModel, void, undefined> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next) yield next;
        else if (this.#failure) throw this.#failure.error;
        else await this.#woken();
      }
    } finally {
      this.#isOver = true;
      this.leave();
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #say(said: Said): void {
    this.#channel?.postMessage(said);
  }

  #ask(): void {
    this.#isBehind = this.#point !== undefined;
    this.#say({ type: 'ask', from: this.#id });
    this.#expect();
  }

  get #isLacking(): boolean {
    return this.#isBehind || !this.#point;
  }

  /** Asks from time to time for a missing point, or, on screen, whether the leader still runs. */
  #watch(): void {
    const ask = (): void => {
      this.#watch();
      if (this.#isLeading) return;
      if (this.#isLacking) this.#ask();
      else if (this.#options.isVisible()) {
        this.#say({ type: 'ping' });
        this.#expect();
      }
    };
    this.#pingTimer = setTimeout(ask, pingMs * (0.75 + Math.random() / 2));
  }

  /** Takes the lead unless the leader is heard in time. */
  #expect(): void {
    this.#answerTimer ??= setTimeout(() => {
      this.#answerTimer = undefined;
      if (this.#channel && !this.#isLeading) void this.#compete(true);
    }, answerMs);
  }

  #heard(): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = undefined;
  }

  /** Waits for the lock, or takes it from its holder. */
  async #compete(takes: boolean): Promise<void> {
    this.#turn?.abort();
    const turn = new AbortController();
    this.#turn = turn;
    const { name = '' } = this.#options;
    try {
      const how = takes ? { steal: true } : { signal: turn.signal };
      await navigator.locks.request(name, how, () => this.#lead(turn));
    } catch (error) {
      turn.abort();
      // The request was given up.
      if (this.#turn !== turn) return;
      // Another tab has taken the lock, or this browser grants none.
      if (!(error instanceof DOMException && error.name === 'AbortError')) return this.#leadAlone();
      this.#isLeading = false;
      void this.#compete(false);
      if (!this.#point) this.#ask();
    }
  }

  /** Polls for this tab only. */
  #leadAlone(): void {
    this.leave();
    const turn = new AbortController();
    this.#turn = turn;
    void this.#lead(turn);
  }

  /** Polls until another tab takes the lead, or this one leaves. */
  async #lead({ signal }: AbortController): Promise<void> {
    if (signal.aborted) return;
    this.#isLeading = true;
    this.#isBehind = false;
    this.#heard();
    this.#say({ type: 'lead' });
    try {
      const from = this.#point?.position;
      const onPosition = (position: Position): void => {
        if (!signal.aborted) this.#movedTo(position);
      };
      const feed = await this.#options.open({ signal, onPosition, keepQueue: true, ...(from && { resumeFrom: from }) });
      signal.throwIfAborted();
      if (feed.state) this.#begin({ model: modelOf(feed.state), position: feed.position });
      for await (const change of feed) {
        if (signal.aborted) return;
        if (change.type === 'gap') this.#begin({ model: modelOf(change.state), position: feed.position });
        else this.#happened(change);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#failure = { error };
      this.leave();
      this.#wake();
    }
  }

  /** A new queue, for all tabs. */
  #begin(point: Point): void {
    this.#adopt(point);
    this.#say({ type: 'point', point, isVisible: this.#options.isVisible() });
  }

  #happened(event: ChatEvent): void {
    const after = this.position;
    const position = { ...after, last_event_id: event.id };
    this.#apply(event, position);
    this.#say({ type: 'event', after, event, position });
  }

  /** Heartbeats move the position. */
  #movedTo(position: Position): void {
    const after = this.position;
    if (position.queue_id !== after.queue_id || position.last_event_id <= after.last_event_id) return;
    this.#apply(undefined, position);
    this.#say({ type: 'event', after, event: undefined, position });
  }

  #apply(event: ChatEvent | undefined, position: Position): void {
    this.#point = { model: event ? applyToModel(this.model, event) : this.model, position };
    if (!event) return;
    this.#waiting.push(event);
    this.#wake();
  }

  #adopt(point: Point): void {
    this.#point = point;
    this.#isBehind = false;
    this.#waiting.push({ type: 'gap', model: point.model });
    this.#wake();
  }

  #hear(said: Said): void {
    if (said.type === 'unreachable') this.#options.onUnreachable();
    else if (said.type === 'ask' || said.type === 'ping') this.#answer(said);
    else if (!this.#isLeading) this.#hearLeader(said);
  }

  #answer(said: Extract<Said, { type: 'ask' | 'ping' }>): void {
    if (!this.#isLeading) return;
    const [point, isVisible] = [this.#point, this.#options.isVisible()];
    if (said.type === 'ask' && point) this.#say({ type: 'point', point, to: said.from, isVisible });
    else this.#say({ type: 'alive' });
  }

  #hearLeader(said: Extract<Said, { type: 'event' | 'point' | 'lead' | 'alive' }>): void {
    this.#heard();
    if (said.type === 'event') this.#hearEvent(said);
    else if (said.type === 'point') this.#hearPoint(said);
    // The earlier leader may have gone without an answer.
    else if (said.type === 'lead' && this.#isLacking) this.#ask();
  }

  #hearEvent({ after, event, position }: Extract<Said, { type: 'event' }>): void {
    const known = this.#point?.position;
    if (!known || this.#isBehind) return;
    if (after.queue_id !== known.queue_id || after.last_event_id > known.last_event_id) this.#ask();
    else if (position.last_event_id > known.last_event_id) this.#apply(event, position);
  }

  #hearPoint({ point, to, isVisible }: Extract<Said, { type: 'point' }>): void {
    if (to !== undefined && to !== this.#id) return;
    const known = this.#point?.position;
    if (known && !this.#isBehind && known.queue_id === point.position.queue_id) return;
    this.#adopt(point);
    if (!isVisible && this.#options.isVisible()) this.shown();
  }
}
