import type { ChatEvent } from '@natter/client';
import { bounded, type Focus } from './bounds.ts';
import { applyToComposing, type Composing, type ComposingAction, noComposing, reduceComposing } from './edits.ts';
import { applyToListed, type Listed, listedOf, type RawListed } from './listed.ts';
import { applyToModel, isMutedTopic, type Model, withRead } from './model.ts';
import { keyOf, type Place } from './place.ts';
import { laterPresence, type PresenceAnswer, withPresences } from './social.ts';
import { afterGap } from './view-gaps.ts';
import {
  applyToViews,
  extendView,
  markedAsRead,
  openView,
  type Page,
  type Reader,
  type Shown,
  withFound,
} from './views.ts';
import { expectEcho, removeDraft, savedDraft } from './writing.ts';
import type { Draft } from './writing-snapshot.ts';

/** A message that its sender sees before the server shows it. */
export interface Outgoing {
  /** Sent as `local_id`, and as the Idempotency-Key. */
  id: string;
  place: Place;
  content: string;
  at: number;
  /** The queue that its first attempt named: under one key, each attempt must be the same request. */
  queueId: string;
  /** The reason why the server refused it, or why it is not sent again. Then its writer decides. */
  problem?: string;
  /** The id of the message, after the server has accepted it. */
  sentAs?: number;
}

/** `unsent`: the server answers, but messages still wait for it. */
export type Connection = 'connected' | 'reconnecting' | 'unsent' | 'caught up';

export interface State extends Shown {
  model: Model;
  outbox: readonly Outgoing[];
  connection: Connection;
  composing: Composing;
  /** The last names of channels that the reader may no longer know. */
  former: ReadonlyMap<number, string>;
  /** Views that could not be loaded, by key, with the reason. */
  failed: ReadonlyMap<string, string>;
  /** The reason why the last action had no effect. */
  notice: string | undefined;
  /** Seconds by which the clock of the server is ahead of that of the browser. */
  clockSkew: number;
}

export type Action =
  | { type: 'event'; event: ChatEvent }
  /** The queue ended: the state begins anew. */
  | { type: 'snapshot'; model: Model; shownKey: string | undefined }
  | { type: 'opened'; page: Page }
  | { type: 'extended'; page: Page }
  /** Messages that arrived since are results of a search, with the words marked. */
  | { type: 'found'; key: string; matches: ReadonlyMap<number, string> }
  | { type: 'failed'; key: string; problem: string | undefined }
  | { type: 'read'; ids: readonly number[] }
  | { type: 'noticed'; notice: string | undefined }
  | { type: 'bounded'; focus: Focus | undefined }
  | { type: 'sending'; outgoing: Outgoing }
  | { type: 'sent'; id: string; sentAs: number }
  | { type: 'refused'; id: string; problem: string }
  | { type: 'discarded'; id: string }
  | { type: 'connection'; connection: Connection }
  | { type: 'composing'; action: ComposingAction }
  /** The server has stored or deleted a draft: known before the event arrives. */
  | { type: 'draft'; draft: Draft }
  | { type: 'saving draft'; draftId: number; text: string }
  | { type: 'no draft'; draftId: number }
  /** All channels that the person may know, and the events since the request. */
  | { type: 'listed'; channels: readonly RawListed[]; since: readonly ChatEvent[] }
  | { type: 'presences'; answer: PresenceAnswer; clockSkew: number };

export const initialState = (model: Model): State => ({
  model,
  messages: new Map(),
  views: new Map(),
  outbox: [],
  connection: 'connected',
  composing: noComposing,
  former: new Map(),
  failed: new Map(),
  notice: undefined,
  clockSkew: 0,
});

/** The next state. Without effects: everything that the page shows is a function of the actions. */
export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case 'event':
      return withEvent(state, action.event);
    case 'snapshot':
      return withSnapshot(state, action.model, action.shownKey);
    case 'opened':
      return arrivedIn({
        ...state,
        ...openView(state, action.page, readerOf(state.model)),
        failed: withoutKey(state, action.page),
      });
    case 'extended':
      return arrivedIn({
        ...state,
        ...extendView(state, action.page, readerOf(state.model)),
        failed: withoutKey(state, action.page),
      });
    case 'found':
      return { ...state, ...withFound(state, action.key, action.matches) };
    case 'failed': {
      const failed = new Map(state.failed);
      if (action.problem === undefined) failed.delete(action.key);
      else failed.set(action.key, action.problem);
      return { ...state, failed };
    }
    case 'read':
      return { ...state, ...markedAsRead(state, action.ids), model: withRead(state.model, action.ids) };
    case 'noticed':
      return { ...state, notice: action.notice };
    case 'bounded':
      return { ...state, ...bounded(state, action.focus) };
    case 'connection':
      return { ...state, connection: action.connection };
    case 'composing':
      return { ...state, composing: reduceComposing(state.composing, action.action, state.model.writing) };
    case 'draft':
      return { ...state, model: { ...state.model, writing: savedDraft(state.model.writing, action.draft) } };
    case 'saving draft':
      return {
        ...state,
        model: { ...state.model, writing: expectEcho(state.model.writing, action.draftId, action.text) },
      };
    case 'no draft':
      return { ...state, model: { ...state.model, writing: removeDraft(state.model.writing, action.draftId) } };
    case 'listed': {
      const listed = action.since.reduce<Listed>(applyToListed, listedOf(action.channels));
      return { ...state, model: { ...state.model, listed } };
    }
    case 'presences': {
      const model = { ...state.model, presence: withPresences(state.model.presence, action.answer) };
      return { ...state, model, clockSkew: action.clockSkew };
    }
    default:
      return arrivedIn({ ...state, outbox: outboxAfter(state.outbox, action) });
  }
}

const withoutKey = ({ failed }: State, page: Page): ReadonlyMap<string, string> =>
  new Map([...failed].filter(([key]) => key !== keyOf(page.narrow)));

/** Without the model before an event, a page may be older than the event: then every place may have been muted. */
const readerOf = (model: Model, before?: Model): Reader => ({
  ownId: model.ownId,
  isMuted: (place: Place) => isMutedTopic(model, place),
  wasMuted: (place: Place) => before === undefined || isMutedTopic(before, place),
});

function withSnapshot(state: State, snapshot: Model, shownKey: string | undefined): State {
  const presence = laterPresence(state.model.presence, snapshot.presence);
  const { listed } = state.model;
  const model = { ...snapshot, presence, listed };
  return { ...state, model, former: formerAfter(state, model), views: afterGap(state.views, shownKey) };
}

function withEvent(state: State, event: ChatEvent): State {
  const model = applyToModel(state.model, event);
  const { messages, views } = applyToViews(state, event, readerOf(model, state.model));
  const localId = event.type === 'message' ? event.local_message_id : undefined;
  const outbox = localId === undefined ? state.outbox : state.outbox.filter(({ id }) => id !== localId);
  const composing = applyToComposing(state.composing, event, model.ownId);
  return arrivedIn({ ...state, model, former: formerAfter(state, model), messages, views, outbox, composing });
}

/** The names of the channels that the model no longer has, beside those from before. */
function formerAfter({ former, model: before }: State, after: Model): State['former'] {
  const collections = ['channels', 'archived', 'listed'] as const;
  if (collections.every((name) => before[name] === after[name])) return former;
  const gone = collections
    .flatMap((name) => [...(before[name]?.values() ?? [])])
    .filter(({ id }) => !collections.some((name) => after[name]?.has(id)));
  return gone.length === 0 ? former : new Map([...former, ...gone.map(({ id, name }) => [id, name] as const)]);
}

function outboxAfter(
  outbox: readonly Outgoing[],
  action: Extract<Action, { type: 'sending' | 'sent' | 'refused' | 'discarded' }>,
): readonly Outgoing[] {
  if (action.type === 'sending') {
    const { id } = action.outgoing;
    return [...outbox.filter((one) => one.id !== id), action.outgoing];
  }
  if (action.type === 'discarded') return outbox.filter(({ id }) => id !== action.id);
  return outbox.map((one) => {
    if (one.id !== action.id) return one;
    return action.type === 'sent' ? { ...one, sentAs: action.sentAs } : { ...one, problem: action.problem };
  });
}

/** Forgets outgoing messages that are among the messages of the server. */
function arrivedIn(state: State): State {
  const outbox = state.outbox.filter(({ sentAs }) => sentAs === undefined || !state.messages.has(sentAs));
  return outbox.length === state.outbox.length ? state : { ...state, outbox };
}
