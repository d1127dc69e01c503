import { type ChatEvent, type Client, createClient, follow } from '@natter/client';
import { registerParams } from '../state/model.ts';
import { keyOf, type Narrow, type Place, placeOf } from '../state/place.ts';
import { type Action, initialState, type Outgoing, reduce, type State } from '../state/state.ts';
import { ChannelList } from './channel-list.ts';
import { Connection } from './connection.ts';
import { csrfToken } from './csrf.ts';
import { deliver } from './deliver.ts';
import { KeptTopics } from './kept-topics.ts';
import { MessageActions } from './message-actions.ts';
import { movedTo, newestId, pageAround, pageBeside, pageCovers, type ShownList } from './message-pages.ts';
import { readOutbox, writeOutbox } from './outbox-store.ts';
import { PresenceReporter } from './presence-reporter.ts';
import { problemOf } from './problem.ts';
import { randomId } from './random-id.ts';
import { ReadMarker } from './read-marker.ts';
import { SearchFollower } from './search-follower.ts';
import { SharedFeed } from './shared-feed.ts';
import { followPage, type HeldLocks, queryLocks, sharedName } from './tabs.ts';
import { UnsavedEdits } from './unsaved-edits.ts';
import { Writer } from './writer.ts';

/** Milliseconds between updates of a visible page: two frames of a screen. */
const drawMs = 32;
const hiddenDrawMs = 500;

interface Loading {
  /** Events since the request. */
  since: ChatEvent[];
  /** The message at which the page opens; undefined while a view is extended. */
  anchor: number | 'default' | undefined;
  request: AbortController;
}

/** A signed-in person: the state on screen, and everything that sends or receives. */
export class Session {
  #state: State;
  readonly #client: Client;
  readonly #feed: SharedFeed;
  readonly #listeners = new Set<() => void>();
  /** Loads in progress, by view. A later load replaces an earlier one of the same view. */
  readonly #loading = new Map<string, Loading>();
  readonly #followers = new Set<(event: ChatEvent) => void>();
  readonly writer: Writer;
  readonly edits: UnsavedEdits;
  readonly topics: KeptTopics;
  readonly #searches: SearchFollower;
  readonly #presence: PresenceReporter;
  readonly channelList: ChannelList;
  #sending: Promise<void> = Promise.resolve();
  #drawTimer: ReturnType<typeof setTimeout> | undefined;
  readonly connection: Connection;
  #shown: ShownList | undefined;
  readonly reading: ReadMarker;
  readonly actions: MessageActions;

  private constructor(client: Client, parting: Client, feed: SharedFeed, heldLocks: HeldLocks) {
    this.#client = client;
    this.#feed = feed;
    this.#state = initialState(feed.begin());
    this.actions = new MessageActions(client, (error) => this.notify(error));
    const state = (): State => this.#state;
    this.reading = new ReadMarker(
      { client, parting },
      {
        isKnown: (id) => this.#state.messages.has(id),
        onRead: (ids) => this.#dispatch({ type: 'read', ids }),
      },
    );
    const store = { state, dispatch: (action: Action) => this.#dispatch(action) };
    this.connection = new Connection({ client, ...store, notifyOthers: () => feed.unreachable() });
    this.writer = new Writer(client, store, heldLocks);
    this.edits = new UnsavedEdits(this.#state.model.ownId);
    this.topics = new KeptTopics(this.#state.model.ownId, heldLocks);
    this.#presence = new PresenceReporter(client, store);
    this.channelList = new ChannelList(client, store.dispatch);
    this.#searches = new SearchFollower(client, {
      state,
      narrow: () => this.shown?.narrow,
      found: (key, matches) => this.#dispatch({ type: 'found', key, matches }),
    });
  }

  /** `onAttempt` is called until the session has begun, after each attempt of a request, with its failure if it is repeated. */
  static async start(onAttempt: (failure: unknown) => void): Promise<Session> {
    let session: Session | undefined;
    const own = { url: location.origin, session: { csrfToken } };
    const client = createClient({
      ...own,
      onAttempt: (failure) => (session ? session.connection.attempted(failure) : onAttempt(failure)),
    });
    // Without a session, a register is answered as to a spectator.
    const { user_id: ownId } = await client.getOwnUser();
    const feed = await SharedFeed.start({
      name: sharedName(ownId),
      open: (options) => follow(client, registerParams, options),
      isVisible: () => document.visibilityState === 'visible',
      onUnreachable: () => session?.connection.lost(),
    });
    followPage(feed);
    const parting = createClient({ ...own, fetch: (address, init) => fetch(address, { ...init, keepalive: true }) });
    const begun = new Session(client, parting, feed, await queryLocks());
    session = begun;
    addEventListener('pagehide', () => begun.reading.leave());
    for (const one of readOutbox(session.state.model.ownId)) session.#resume(one);
    session.#presence.start();
    return session;
  }

  /** The client, for requests that only one component sends. */
  get client(): Client {
    return this.#client;
  }

  get state(): State {
    return this.#state;
  }

  get shown(): ShownList | undefined {
    return this.#shown;
  }

  set shown(shown) {
    this.#shown = shown;
    this.#endLoads(shown && keyOf(shown.narrow));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Calls a function with each event that the state has followed. */
  onEvent(follower: (event: ChatEvent) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Applies an action. The page is drawn at once, so that it follows the reader's keys. */
  #dispatch(action: Action): void {
    this.#apply(action);
    this.#draw();
  }

  /** Hundreds of events may arrive together: the page is drawn once for all events of an interval. */
  #dispatchSoon(action: Action): void {
    this.#apply(action);
    this.#drawTimer ??= setTimeout(() => this.#draw(), document.hidden ? hiddenDrawMs : drawMs);
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    for (const listener of this.#listeners) listener();
  }

  #apply(action: Action): void {
    const before = this.#state;
    const { shown } = this;
    const focus = shown && { key: keyOf(shown.narrow), topId: shown.topId };
    this.#state = reduce(reduce(before, action), { type: 'bounded', focus });
    if (this.#state.outbox !== before.outbox) writeOutbox(this.#state.model.ownId, before.outbox, this.#state.outbox);
  }

  /** Applies events until the session ends. Rejects if the server, or a proxy before it, refuses further polls. */
  async run(): Promise<void> {
    for await (const event of this.#feed) {
      if (event.type !== 'gap') {
        for (const { since } of this.#loading.values()) since.push(event);
        this.#dispatchSoon({ type: 'event', event });
        this.writer.arrived(event);
        this.#searches.arrived(event);
        this.channelList.arrived(event);
        for (const follower of this.#followers) follower(event);
      } else {
        this.#endLoads();
        const { shown } = this;
        this.#dispatch({ type: 'snapshot', model: event.model, shownKey: shown && keyOf(shown.narrow) });
        this.channelList.restart();
        if (shown) void this.open(shown.narrow, shown.topId);
      }
    }
  }

  /** Loads messages around one, or the first unread one. A list that is moved meanwhile stays, unless the reader chose one. */
  async open(narrow: Narrow, around?: number, isChosen = false): Promise<void> {
    const anchor = around ?? 'default';
    if (this.#loading.get(keyOf(narrow))?.anchor === anchor) return;
    this.#endLoad(keyOf(narrow));
    // A list on screen does not show that this failed.
    const patience = this.#state.views.has(keyOf(narrow)) ? { retryForMs: Number.POSITIVE_INFINITY } : {};
    await this.#load(narrow, anchor, async (signal) => {
      const page = await pageAround(this.#client, narrow, around, { ...patience, signal });
      return (since) => {
        const place = isChosen ? undefined : movedTo(this.shown, around);
        if (place !== undefined && place !== around && !pageCovers(page, place)) return void this.open(narrow, place);
        this.#dispatch({ type: 'opened', page: { ...page, anchor: place ?? page.anchor, since } });
        // A move since the request brought messages that the page lacks.
        if (this.#state.views.get(keyOf(narrow))?.isStale) void this.open(narrow, around, isChosen);
      };
    });
  }

  /** Loads the newest messages. A list that is not on screen yet opens at its end, even if messages are unread. */
  openNewest(narrow: Narrow): Promise<void> {
    this.shown &&= { narrow, topId: newestId };
    return this.open(narrow, newestId, true);
  }

  /** Loads the next page at one end of a view. */
  async extend(narrow: Narrow, towards: 'oldest' | 'newest'): Promise<void> {
    const view = this.#state.views.get(keyOf(narrow));
    const anchor = towards === 'oldest' ? view?.ids[0] : view?.ids.at(-1);
    if (!view || (towards === 'oldest' ? view.hasOldest : view.hasNewest)) return;
    if (this.#loading.has(keyOf(narrow))) return;
    // All its messages were deleted.
    if (anchor === undefined) return this.open(narrow);
    await this.#load(narrow, undefined, async (signal) => {
      const page = await pageBeside(this.#client, narrow, { anchor, towards, signal });
      return (since) => this.#dispatch({ type: 'extended', page: { ...page, since } });
    });
  }

  async #load(
    narrow: Narrow,
    anchor: Loading['anchor'],
    load: (signal: AbortSignal) => Promise<(since: readonly ChatEvent[]) => void>,
  ): Promise<void> {
    const key = keyOf(narrow);
    const request = new AbortController();
    const loading = { since: [], anchor, request };
    this.#loading.set(key, loading);
    const end = (): boolean => this.#loading.get(key) === loading && this.#loading.delete(key);
    try {
      const show = await load(request.signal);
      if (end()) show(loading.since);
    } catch (error) {
      if (end()) this.#dispatch({ type: 'failed', key, problem: problemOf(error) });
    }
  }

  #endLoad(key: string): void {
    this.#loading.get(key)?.request.abort();
    this.#loading.delete(key);
  }

  /** Ends the loads of lists that are not on the page. Some of them would be repeated until the server answers. */
  #endLoads(exceptKey?: string): void {
    for (const key of this.#loading.keys()) if (key !== exceptKey) this.#endLoad(key);
  }

  /** The conversation that contains a message now; undefined if the reader cannot see the message. */
  async placeOf(messageId: number): Promise<Place | undefined> {
    const params = { message_id: messageId, allow_empty_topic_name: true };
    return this.#client.getMessage(params).then(
      ({ message }) => placeOf(message, this.#state.model.ownId),
      () => undefined,
    );
  }

  /** Shows a notice of a problem that no other part of the page can show. */
  notify(error: unknown): void {
    this.#dispatch({ type: 'noticed', notice: problemOf(error) });
  }

  dismissNotice(): void {
    this.#dispatch({ type: 'noticed', notice: undefined });
  }

  async topicsOf(channelId: number): Promise<{ name: string; max_id: number }[]> {
    return (await this.#client.getTopics({ stream_id: channelId, allow_empty_topic_name: true })).topics;
  }

  send(place: Place, content: string): void {
    this.#resume({ id: randomId(), place, content, at: Date.now(), queueId: this.#feed.position.queue_id });
  }

  /** Sends a message again that was refused or not confirmed, as a new request: its writer has decided so. */
  retry({ place, content, id }: Outgoing): void {
    this.#dispatch({ type: 'discarded', id });
    this.send(place, content);
  }

  discard({ id }: Outgoing): void {
    this.#dispatch({ type: 'discarded', id });
  }

  /** Messages are sent one after the other, so they keep their order. */
  #resume(outgoing: Outgoing): void {
    this.#dispatch({ type: 'sending', outgoing });
    if (outgoing.problem === undefined) this.#sending = this.#sending.then(() => this.#deliver(outgoing));
  }

  async #deliver(outgoing: Outgoing): Promise<void> {
    const outcome = await deliver(this.#client, outgoing);
    if (outcome) this.#dispatch(outcome);
  }
}
