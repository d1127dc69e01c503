import { type Actor, idsPerNumber, type LogEntry, type QueueRecord, type RequestMeta, roles } from '@natter/contracts';
import type { LogRedis, Verifier } from '@natter/event-log';
import type { Bus } from '@natter/service-kit';
import { isAfter, type Position } from '../log-tail/kept-entries.ts';
import type { RealmTail } from '../log-tail/realm-tail.ts';
import type { EventTexts } from './event-texts.ts';
import { createOlderEntries, type OlderEntries } from './older-entries.ts';
import type { Arrival } from './poll-arrivals.ts';
import { eventId, renderFor } from './render-event.ts';
import { reveal } from './reveal.ts';
import { createScannedGaps, leastGap, type ScannedGaps, viewOf } from './scanned-gaps.ts';

/** Reads a realm's log for a queue, from the cursor of one poll. */
export interface QueueScan {
  /** The id of the last scanned event. */
  readonly lastId: number;
  /** Whether the log has more entries than were scanned. */
  readonly hasMore: boolean;
  /**
   * The next events as JSON, limited to the size of one response; empty if the log has no more for this queue, or the
   * poll is over. `isFollowing`: the client waits for new events, so their delivery time is measured.
   */
  next(isFollowing: boolean): Promise<string[]>;
}

export interface ScanContext {
  bus: Bus;
  log: LogRedis;
  verifier: Verifier;
  texts: EventTexts;
  /** The entry was added to the response of a client that follows. */
  onDelivered: (entry: LogEntry) => void;
  /** Number of queues whose scanned positions are cached. */
  maxQueues: number;
}

interface ScanOf {
  tail: RealmTail;
  queue: QueueRecord;
  /** The user of the queue. */
  actor: Actor;
  meta: RequestMeta;
  arrival: Arrival;
  lastEventId: number;
  /** Whether the client no longer waits for the response. Then a long scan ends. */
  isOver: () => boolean;
  /** Runs a part of a long scan in the turn of its user, never beside another scan of the queue; not if the poll is over. */
  inTurn: (work: () => Promise<void>) => Promise<void>;
}

interface Tools extends Pick<ScanContext, 'bus' | 'log' | 'texts' | 'onDelivered'> {
  older: OlderEntries;
  gaps: ScannedGaps;
}

const maxAnswerEvents = 1_000;
const maxAnswerBytes = 1024 * 1024;
/** A following client polls again within this time; older events waited for the client, not for the server. */
const followingMs = 1_000;
/** Entries after which other requests get a turn: a queue may have to skip a hundred thousand entries of others. */
const entriesPerTurn = 500;
/** A scan of so many entries in memory costs less than a millisecond, and waits for nothing. */
const shortScan = 2_000;
/** Entries that a long scan reads in one turn of its user. */
const scannedInTurn = 20_000;
/** An entry that is not in memory is parsed and its signature checked. */
const weightOfOlder = 8;
/** Pauses of a poll that has to wait for the tail; each is twice the last one. Without Redis it may have to wait for long. */
const [firstPauseMs, longestPauseMs] = [20, 1_000];

/** Starts scans. Throws BAD_EVENT_QUEUE_ID for a cursor that is no event's id. */
export function createQueueScans({ bus, log, verifier, texts, onDelivered, maxQueues }: ScanContext): {
  start(of: ScanOf): Promise<QueueScan>;
} {
  const older = createOlderEntries(bus, log, verifier);
  const tools: Tools = { bus, log, texts, onDelivered, older, gaps: createScannedGaps(maxQueues) };
  return {
    async start(of) {
      const scan = new Scan(tools, of);
      await scan.begin();
      return scan;
    },
  };
}

class Scan implements QueueScan {
  readonly #tools: Tools;
  readonly #of: ScanOf;
  readonly #cursor: number;
  readonly #begunAt = Date.now();
  /** The queue as it is for a guest. */
  readonly #closed: QueueRecord;
  readonly #views: { ofGuest: string; ofOthers: string };
  #isOpen: boolean;
  /** Everything up to here was scanned. */
  #from: Position;
  /** The current stretch without a match: its start, and the minimum number of its entries. It ends at `#from`. */
  #run: { from: Position; length: number; view: string };

  constructor(tools: Tools, of: ScanOf) {
    const { queue, arrival, lastEventId } = of;
    this.#tools = tools;
    this.#of = of;
    this.#cursor = Math.max(lastEventId, 0);
    this.#closed = { ...queue, all_public_streams: false };
    this.#views = { ofGuest: viewOf(queue, true), ofOthers: viewOf(queue, false) };
    this.#isOpen = !arrival.isGuest;
    this.#from = { number: queue.start + Math.floor(this.#cursor / idsPerNumber), n: this.#cursor % idsPerNumber };
    this.#run = this.#newRun();
  }

  get lastId(): number {
    return Math.max(eventId(this.#of.queue, this.#from), this.#cursor);
  }

  get hasMore(): boolean {
    return this.#of.tail.after(this.#from, 1)?.length !== 0;
  }

  async begin(): Promise<void> {
    this.#skipGap();
    await this.#tools.older.checkNotAhead(this.#of, this.#from);
  }

  async next(isFollowing: boolean): Promise<string[]> {
    const answer = new Answer(isFollowing);
    await this.#readMemory(answer, shortScan);
    for (let pauseMs = firstPauseMs; !answer.isComplete; ) {
      const { position } = this.#of.tail;
      await this.#of.inTurn(() => this.#readTurn(answer));
      if (this.#of.isOver()) break;
      if (!answer.isBehindTail || isAfter(this.#of.tail.position, position)) continue;
      await this.#untilGrowth(pauseMs * (0.5 + Math.random() / 2));
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
    this.#remember();
    return answer.events;
  }

  /** Reads older entries, or those in memory, for one turn. */
  async #readTurn(answer: Answer): Promise<void> {
    answer.isBehindTail = false;
    for (let left = scannedInTurn; left > 0 && !answer.isComplete && !this.#of.isOver(); ) {
      left -= await this.#readMemory(answer, left);
      if (answer.isComplete || left <= 0 || this.#of.isOver()) return;
      const { entries: page, isComplete } = await this.#tools.older.read(this.#of, this.#from);
      await this.#take(page, answer);
      if (answer.events.length > 0) answer.isComplete = true;
      left -= weightOfOlder * page.length;
      if (page.length > 0) continue;
      if (isComplete && this.#skipLost()) continue;
      answer.isBehindTail = true;
      return;
    }
  }

  /** Outside of a turn, so that others have it. */
  #untilGrowth(mostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(end, mostMs);
      const stop = this.#of.tail.onGrowth(end);
    });
  }

  /** Ephemeral entries that neither memory nor Redis has are lost: the record has none. */
  #skipLost(): boolean {
    const { floor } = this.#of.tail;
    if (floor.number !== this.#from.number || !isAfter(floor, this.#from)) return false;
    this.#from = floor;
    return true;
  }

  /** Reads up to so many entries, as far as they are in memory; returns their number. */
  async #readMemory(answer: Answer, most: number): Promise<number> {
    for (let count = 0; ; ) {
      if (this.#isRevoked()) answer.isComplete = true;
      if (answer.isComplete) return count;
      this.#skipGap();
      const page = this.#of.tail.after(this.#from, Math.min(entriesPerTurn, most - count + 1));
      if (page?.length === 0) answer.isComplete = true;
      // Events that were found do not wait for a long scan.
      else if (answer.events.length > 0 && (!page || count >= most)) answer.isComplete = true;
      if (!page || count >= most || answer.isComplete) return count;
      await this.#take(page, answer);
      count += page.length;
      if (page.length < entriesPerTurn) continue;
      this.#remember();
      await new Promise(setImmediate);
      if (this.#of.isOver()) answer.isComplete = true;
    }
  }

  async #take(page: readonly LogEntry[], answer: Answer): Promise<void> {
    for (const entry of page) {
      if (answer.isComplete) return;
      const event = await this.#eventOf(entry, answer.events.length === 0);
      if (this.#isRefused(entry) || event === 'later' || (event !== undefined && !answer.hasRoomFor(event))) {
        answer.isComplete = true;
        return;
      }
      if (event !== undefined) this.#remember();
      this.#from = { number: entry.number, n: entry.n };
      if (event === undefined) this.#run.length++;
      else {
        this.#run = this.#newRun();
        answer.add(event);
        if (answer.isFollowing || entry.at > this.#begunAt - followingMs) this.#tools.onDelivered(entry);
      }
    }
  }

  async #eventOf(entry: LogEntry, isFirst: boolean): Promise<string | 'later' | undefined> {
    const { queue, arrival, meta, actor } = this.#of;
    if (queue.all_public_streams) this.#isOpen = isNoGuestAfter(entry, queue.user_id, this.#isOpen);
    const view = this.#isOpen && !arrival.isGuest ? queue : this.#closed;
    const event = renderFor(this.#tools.texts, view, entry, () => this.#tools.log.now());
    if (event === undefined || !entry.event.withheld) return event;
    // Revealing may fail, so it happens only for the first event of a response: earlier events are not delayed.
    const isRevealed = isFirst && !arrival.revokedAt;
    return isRevealed ? reveal(this.#tools.bus, { meta, actor }, entry.event.withheld, event) : 'later';
  }

  #isRevoked(): boolean {
    const { revokedAt } = this.#of.arrival;
    return revokedAt !== undefined && !isAfter(revokedAt, this.#from);
  }

  /** Withheld content reflects the moment of its request, which may be after the end of the credentials. */
  #isRefused(entry: LogEntry): boolean {
    const { revokedAt } = this.#of.arrival;
    return revokedAt !== undefined && (entry.event.withheld !== undefined || isAfter(entry, revokedAt));
  }

  #skipGap(): void {
    const end = this.#tools.gaps.endOf(this.#view(), this.#from);
    if (!end) return;
    this.#from = end;
    this.#run.length += leastGap;
  }

  #remember(): void {
    const { from, length, view } = this.#run;
    // Some of the entries may have been skipped for a guest only.
    if (view === this.#view()) this.#tools.gaps.add(view, { from, through: this.#from, length });
    else this.#run = this.#newRun();
  }

  #view(): string {
    return this.#of.arrival.isGuest ? this.#views.ofGuest : this.#views.ofOthers;
  }

  #newRun() {
    return { from: this.#from, length: 0, view: this.#view() };
  }
}

class Answer {
  readonly events: string[] = [];
  readonly isFollowing: boolean;
  isComplete = false;
  /** The next entry is neither in memory nor readable elsewhere: the poll waits for the tail. */
  isBehindTail = false;
  #bytes = 0;

  constructor(isFollowing: boolean) {
    this.isFollowing = isFollowing;
  }

  /** A response contains at least one event, whatever its size. */
  hasRoomFor(event: string): boolean {
    return this.events.length === 0 || this.#bytes + event.length <= maxAnswerBytes;
  }

  add(event: string): void {
    this.events.push(event);
    this.#bytes += event.length;
    if (this.events.length >= maxAnswerEvents) this.isComplete = true;
  }
}

/** Whether the user is a non-guest after this entry. */
function isNoGuestAfter({ event }: LogEntry, userId: number, before: boolean): boolean {
  if (event.type !== 'realm_user' || event.op !== 'update') return before;
  const { person } = event.body;
  return person.user_id !== userId || person.role === undefined ? before : person.role !== roles.guest;
}
