import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Credentials, request } from '../api.ts';
import { apply, type ClientState, comparable, stateOf } from '../client-state.ts';
import { describe } from '../follower.ts';
import { type Absences, createAbsences } from './absences.ts';

/** The fields of a message that a client shows. */
export interface Shown {
  id: number;
  content: string;
  topic: string;
  isRead: boolean;
  isStarred: boolean;
  /** `emoji user`, sorted. */
  reactions: string[];
}

/** Another client's view of the same person, from a register and what it fetched. */
export interface View {
  client: unknown;
  unread: number[];
  starred: number[];
  drafts: number[];
  groups: unknown;
  topics: unknown;
}

/** Follows one person's queue through all faults, and keeps what a client keeps. It never registers again by itself. */
export interface Watcher {
  who: Credentials;
  queueId: string;
  /** Ids, types and contents of durable events since `mark`, in the order in which they came. */
  events: string[];
  /** The cursor at `mark`. */
  markedAt: number;
  messages: Map<number, Shown>;
  absences: Absences;
  lost: string | undefined;
  failures: string[];
  /** Milliseconds from the time in the text of a message to its arrival here. */
  longestDeliveryMs: number;
  view(): View;
  /** Begins a round: clears the collected events and messages. */
  mark(): void;
  /** Runs `work` without polls of its own: of two polls of a queue, the older one returns no events. */
  apart(work: () => Promise<void>): Promise<void>;
  stop(): void;
}

const ephemeral = new Set(['typing', 'presence', 'heartbeat']);
const followed = [
  ...['message', 'update_message', 'delete_message', 'update_message_flags', 'reaction', 'subscription', 'stream'],
  ...['realm_user', 'realm_user_groups', 'user_topic', 'drafts', 'typing', 'presence', 'user_status'],
];
export const registration = {
  event_types: followed,
  fetch_event_types: [...followed, 'starred_messages', 'realm', 'user_settings'],
  apply_markdown: false,
  include_subscribers: 'true',
  client_gravatar: false,
  client_capabilities: { notification_settings_null: true, bulk_message_deletion: true, user_settings_object: true },
};

interface Kept {
  client: ClientState;
  unread: Set<number>;
  starred: Set<number>;
  drafts: Set<number>;
  groups: Map<number, Set<number>>;
  topics: Map<string, number>;
}

/** Identifies a durable event, for a comparison with the same event as it is read later. */
export const nameOf = (event: Answer): string | undefined =>
  ephemeral.has(event.type)
    ? undefined
    : `${event.id} ${event.type}/${event.op ?? ''} ${event.message?.id ?? event.message_id ?? ''} ${event.message?.content ?? event.content ?? ''}`;

export async function watch(url: string, who: Credentials): Promise<Watcher> {
  const { status, body } = await request(url, who, 'POST /register', registration);
  if (status !== 200) throw new Error(`register: ${status} ${JSON.stringify(body)}`);
  const kept = keptOf(body);
  let isStopped = false;
  let isPaused = false;
  /** Whether a poll is held or on its way. */
  let isPolling = false;
  let cursor: number = body.last_event_id;
  const poll = (options: { dont_block?: true } = {}): Promise<{ status: number; body: Answer }> =>
    request(url, who, 'GET /events', { queue_id: watcher.queueId, last_event_id: cursor, ...options });
  const watcher: Watcher = {
    who,
    queueId: body.queue_id,
    events: [],
    markedAt: cursor,
    messages: new Map(),
    absences: createAbsences(),
    lost: undefined,
    failures: [],
    longestDeliveryMs: 0,
    view: () => viewOf(kept),
    mark() {
      watcher.events = [];
      watcher.messages.clear();
      watcher.failures = [];
      watcher.longestDeliveryMs = 0;
      watcher.markedAt = cursor;
    },
    async apart(work) {
      isPaused = true;
      // A newer poll ends the one that is held.
      for (; isPolling; await pause(20)) await poll({ dont_block: true }).catch(() => undefined);
      await work().finally(() => {
        isPaused = false;
      });
    },
    stop() {
      isStopped = true;
    },
  };
  void (async () => {
    while (!isStopped && watcher.lost === undefined) {
      if (isPaused) {
        await pause(20);
        continue;
      }
      isPolling = true;
      try {
        take(await poll());
      } catch (error) {
        if (!isStopped) watcher.failures.push(describe(error));
        await pause(50 + Math.random() * 100);
      } finally {
        isPolling = false;
      }
    }
  })();
  return watcher;

  function take({ status, body }: { status: number; body: Answer }): void {
    if (body.code === 'BAD_EVENT_QUEUE_ID') {
      watcher.lost = JSON.stringify(body);
      return;
    }
    if (status !== 200) throw new Error(`${status} ${body.code}`);
    for (const event of body.events) {
      // A heartbeat has the id of the last entry that the queue passed.
      const lowest = event.type === 'heartbeat' ? cursor : cursor + 1;
      if (event.id < lowest) watcher.failures.push(`event ${event.id} after ${cursor}`);
      cursor = event.id;
      const name = nameOf(event);
      if (name !== undefined) watcher.events.push(name);
      follow(watcher, kept, event);
    }
  }
}

function follow(watcher: Watcher, kept: Kept, event: Answer): void {
  apply(kept.client, event);
  watcher.absences.follow(event);
  const kind = `${event.type}/${event.op ?? ''}`;
  if (event.type === 'message') {
    const { id, content, subject } = event.message;
    const isRead = event.flags.includes('read');
    watcher.messages.set(id, { id, content, topic: subject, isRead, isStarred: false, reactions: [] });
    if (!isRead) kept.unread.add(id);
    const sentAt = Number(/ at (\d+)/.exec(content)?.[1]);
    if (sentAt) watcher.longestDeliveryMs = Math.max(watcher.longestDeliveryMs, Date.now() - sentAt);
  }
  if (event.type === 'update_message') {
    const edited = watcher.messages.get(event.message_id);
    if (edited && event.content !== undefined) edited.content = event.content;
    for (const id of event.message_ids ?? []) {
      const moved = watcher.messages.get(id);
      if (moved && event.subject !== undefined) moved.topic = event.subject;
    }
  }
  if (event.type === 'delete_message')
    for (const id of event.message_ids ?? [event.message_id]) {
      watcher.messages.delete(id);
      kept.unread.delete(id);
      kept.starred.delete(id);
    }
  if (event.type === 'reaction') {
    const message = watcher.messages.get(event.message_id);
    const reaction = `${event.emoji_name} ${event.user_id}`;
    if (message)
      message.reactions = [
        ...message.reactions.filter((one) => one !== reaction),
        ...(event.op === 'add' ? [reaction] : []),
      ].sort();
  }
  if (event.type === 'update_message_flags') followFlags(watcher, kept, event);
  if (kind === 'drafts/add') for (const draft of event.drafts) kept.drafts.add(draft.id);
  if (kind === 'drafts/remove') kept.drafts.delete(event.draft_id);
  if (kind === 'user_group/add') kept.groups.set(event.group.id, new Set(event.group.members));
  const members = kept.groups.get(event.group_id);
  if (kind === 'user_group/add_members') for (const id of event.user_ids) members?.add(id);
  if (kind === 'user_group/remove_members') for (const id of event.user_ids) members?.delete(id);
  if (event.type === 'user_topic') setTopic(kept.topics, event);
}

function followFlags(watcher: Watcher, kept: Kept, { op, flag, messages }: Answer): void {
  const isSet = op === 'add';
  for (const id of messages) {
    const message = watcher.messages.get(id);
    if (flag === 'read') {
      if (message) message.isRead = isSet;
      isSet ? kept.unread.delete(id) : kept.unread.add(id);
    }
    if (flag === 'starred') {
      if (message) message.isStarred = isSet;
      isSet ? kept.starred.add(id) : kept.starred.delete(id);
    }
  }
}

function setTopic(topics: Map<string, number>, { stream_id, topic_name, visibility_policy }: Answer): void {
  const key = `${stream_id} ${topic_name}`;
  if (visibility_policy === 0) topics.delete(key);
  else topics.set(key, visibility_policy);
}

function keptOf(register: Answer): Kept {
  const { streams, pms, huddles } = register.unread_msgs;
  const topics = new Map<string, number>();
  for (const one of register.user_topics) setTopic(topics, one);
  return {
    client: stateOf(register),
    unread: new Set([...streams, ...pms, ...huddles].flatMap((part: Answer) => part.unread_message_ids)),
    starred: new Set(register.starred_messages),
    drafts: new Set(register.drafts.map((draft: Answer) => draft.id)),
    groups: new Map(register.realm_user_groups.map((group: Answer) => [group.id, new Set(group.members)])),
    topics,
  };
}

function viewOf({ client, unread, starred, drafts, groups, topics }: Kept): View {
  const sorted = (ids: Iterable<number>): number[] => [...ids].sort((a, b) => a - b);
  return {
    client: comparable(client),
    unread: sorted(unread),
    starred: sorted(starred),
    drafts: sorted(drafts),
    groups: [...groups].map(([id, members]) => [id, sorted(members)]).sort(),
    topics: [...topics].sort(),
  };
}

/** The view of a client that starts now. */
export const viewOfRegister = (register: Answer): View => viewOf(keptOf(register));
