import { ApiError, type ChatEvent, type Client, OutcomeUnknown } from '@natter/client';
import { draftOf, placeOfTyping, textOf } from '../state/edits.ts';
import { keyOf, type Place } from '../state/place.ts';
import type { Action, State } from '../state/state.ts';
import { type KeptEdit, KeptEdits } from './kept-edits.ts';
import { serverNow } from './server-time.ts';
import type { HeldLocks } from './tabs.ts';
import { type DraftBox, linkAfter, Uploads } from './uploads.ts';

const saveAfterMs = 1_000;

interface Store {
  state: () => State;
  dispatch: (action: Action) => void;
}

/** Sends drafts and typing notifications to the server while somebody writes. */
export class Writer {
  readonly #client: Client;
  readonly #store: Store;
  readonly #saveTimers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #typingTimers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #kept: KeptEdits;
  readonly uploads: Uploads;
  /** Texts that the server may have as drafts, by conversation: their saves got no answer. */
  readonly #unanswered = new Map<string, string>();
  /** The conversation to which a text was carried while it was saved, by the earlier one. */
  readonly #carried = new Map<string, string>();
  /** The boxes whose texts are on their way to the server by other means; they go along with their messages. */
  readonly #leaving = new Set<DraftBox>();
  #saving: Promise<void> = Promise.resolve();
  #typing: { place: Place; since: number } | undefined;
  #stopTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: Client, store: Store, heldLocks: HeldLocks) {
    this.#client = client;
    this.#store = store;
    this.#kept = new KeptEdits(this.#ownId);
    this.uploads = new Uploads({
      maxMebibytes: () => store.state().model.writing.limits.fileMebibytes,
      append: ({ key, place }, uploaded) => {
        const { composing, model } = store.state();
        const text = textOf(composing, model.writing, key);
        this.#change(key, place, text + linkAfter(text, uploaded));
      },
    });
    for (const [key, edit] of this.#kept.take(heldLocks)) this.#restore(key, edit);
  }

  get #ownId(): number {
    return this.#store.state().model.ownId;
  }

  /**
   * Continues with a text of an earlier page. A draft that another client changed is left as it is, and the text becomes
   * another draft.
   */
  #restore(key: string, { place, text, draftId, known = [] }: KeptEdit): void {
    const draft = this.#draftWith([text, ...known], key, draftId);
    if (text === '' && !draft) {
      this.#kept.drop(key);
      return;
    }
    this.#store.dispatch({ type: 'composing', action: { type: 'restored', key, text, draftId: draft?.id } });
    this.#change(key, place, text);
  }

  /** The draft of this id, or without an id one of the conversation, if it has one of these texts. */
  #draftWith(texts: readonly string[], key: string, draftId?: number) {
    const own = new Set(texts.map((one) => one.trim()));
    return [...this.#store.state().model.writing.drafts.values()].find(
      ({ id, place, content }) =>
        own.has(content.trim()) &&
        (draftId === undefined ? place !== undefined && keyOf(place) === key : id === draftId),
    );
  }

  /** Keeps a text of a compose box. Without a place it stays in this browser. */
  edit(key: string, place: Place | undefined, text: string): void {
    this.#change(key, place, text);
    if (place) this.#typed(place, text.trim() !== '');
  }

  #change(key: string, place: Place | undefined, text: string): void {
    this.#store.dispatch({ type: 'composing', action: { type: 'edited', key, text } });
    this.#keep(key, { place, text });
    clearTimeout(this.#saveTimers.get(key));
    const { settings, limits } = this.#store.state().model.writing;
    // The server would cut a text that is too long.
    if (!place || settings.enable_drafts_synchronization === false || text.length > limits.message) return;
    const save = (): void => {
      this.#saving = this.#saving.then(() => this.#save(key, place));
    };
    if (text === '') save();
    else this.#saveTimers.set(key, setTimeout(save, saveAfterMs));
  }

  #keep(key: string, { place, text }: Pick<KeptEdit, 'place' | 'text'>): void {
    const { composing, model } = this.#store.state();
    const draftId = composing.edits.get(key)?.draftId;
    const content = draftId === undefined ? undefined : model.writing.drafts.get(draftId)?.content;
    const known = [content, this.#unanswered.get(key)].filter((one) => one !== undefined);
    if (text === '' && draftId === undefined && !this.#unanswered.has(key)) this.#kept.drop(key);
    else this.#kept.keep(key, { place, text, draftId, known });
  }

  /** Texts are saved one after the other, so that no older text replaces a newer one. */
  async #save(key: string, place: Place): Promise<void> {
    const edit = this.#store.state().composing.edits.get(key);
    if (!edit?.isUnsaved) return;
    const { text } = edit;
    const draftId = this.#draftIdOf(key);
    this.#unanswered.set(key, text);
    this.#carried.delete(key);
    this.#keep(key, { place, text });
    try {
      const id = await this.#put(place, text, draftId);
      this.#unanswered.delete(key);
      if (id === undefined) {
        if (draftId !== undefined) this.#store.dispatch({ type: 'no draft', draftId });
      } else {
        const timestamp = Math.floor(serverNow(this.#store.state()) / 1_000);
        this.#store.dispatch({ type: 'draft', draft: { id, place, content: text, timestamp } });
      }
      if (this.#carried.has(key)) this.#handOver(key, id);
      else {
        const action = { type: 'kept' as const, key, text, draftId: id, before: edit.draftId };
        this.#store.dispatch({ type: 'composing', action });
      }
      const now = this.#store.state().composing.edits.get(key);
      if (now?.isUnsaved) this.#keep(key, { place, text: now.text });
      else this.#kept.drop(key);
    } catch (error) {
      // Refused, for example because of too many drafts, or not confirmed: the text stays in this browser.
      if (!(error instanceof OutcomeUnknown)) this.#unanswered.delete(key);
    }
  }

  /** A text that was carried away while it was saved continues with the draft that the server has now. */
  #handOver(key: string, draftId: number | undefined): void {
    const { edits } = this.#store.state().composing;
    let to = this.#carried.get(key) ?? key;
    // The text may have been carried further. Another text may be written in its earlier conversation.
    for (const seen = new Set<string>(); !edits.has(to) && !seen.has(to); ) {
      seen.add(to);
      to = this.#carried.get(to) ?? to;
    }
    const next = edits.get(to);
    if (!next || next.draftId !== undefined) return;
    this.#store.dispatch({ type: 'composing', action: { type: 'restored', key: to, text: next.text, draftId } });
  }

  /** The draft of a text that is not saved yet: of a save without an answer, it is found by the text. */
  #draftIdOf(key: string): number | undefined {
    const sent = this.#unanswered.get(key);
    const { draftId } = this.#store.state().composing.edits.get(key) ?? {};
    return draftId ?? (sent === undefined ? undefined : this.#draftWith([sent], key)?.id);
  }

  async #put(place: Place, text: string, draftId: number | undefined): Promise<number | undefined> {
    const forEver = { retryForMs: Number.POSITIVE_INFINITY };
    if (text.trim() === '') {
      if (draftId !== undefined) await this.#client.deleteDraft({ draft_id: draftId }, forEver).catch(ignoreMissing);
      return undefined;
    }
    const draft = { ...draftTarget(place), content: text };
    if (draftId !== undefined)
      try {
        this.#store.dispatch({ type: 'saving draft', draftId, text });
        await this.#client.editDraft({ draft_id: draftId, draft }, forEver);
        return draftId;
      } catch (error) {
        ignoreMissing(error);
      }
    return (await this.#client.createDrafts({ drafts: [draft] }, forEver)).ids[0];
  }

  /** The conversation is no longer on screen. */
  leave(key: string): void {
    this.#stopTyping();
    this.#store.dispatch({ type: 'composing', action: { type: 'left', key } });
  }

  /**
   * The messages of a conversation are elsewhere now: the text of its compose box, the draft of it and files on their way go
   * along. Returns false if they stay, because something else is written there.
   */
  carry(from: Place, to: Place): boolean {
    const [key, next] = [keyOf(from), keyOf(to)];
    const { composing, model } = this.#store.state();
    const text = textOf(composing, model.writing, key);
    const draftId = draftOf(composing, model.writing, key);
    const isSame = draftId !== undefined && draftOf(composing, model.writing, next) === draftId;
    const isFree = textOf(composing, model.writing, next) === '' || isSame;
    if (key === next || (text === '' && this.uploads.of(key).length === 0)) return true;
    if (!isFree) return false;
    this.uploads.carry(key, { key: next, place: to });
    if (text === '') return true;
    for (const box of this.#leaving) if (box.key === key) Object.assign(box, { key: next, place: to });
    clearTimeout(this.#saveTimers.get(key));
    this.#store.dispatch({ type: 'composing', action: { type: 'carried', key, to: next, text, draftId } });
    this.#kept.drop(key);
    this.#carried.set(key, next);
    this.#change(next, to, text);
    return true;
  }

  /** Empties the compose box of a text after it was sent by other means, also if it was carried away. Another text stays. */
  async emptyAfter(draft: DraftBox, text: string, send: () => Promise<unknown>): Promise<void> {
    const box = { ...draft };
    this.#leaving.add(box);
    try {
      await send();
    } finally {
      this.#leaving.delete(box);
    }
    const { composing, model } = this.#store.state();
    // The server removes spaces at the ends of drafts.
    if (textOf(composing, model.writing, box.key).trim() === text.trim()) this.#change(box.key, box.place, '');
  }

  /**
   * Takes a draft into the compose box of its conversation, where a newer text of the same draft stays. Returns false if the
   * text of another draft is there, which the server does not have yet.
   */
  choose(key: string, draftId: number): boolean {
    const edit = this.#store.state().composing.edits.get(key);
    if (edit?.isUnsaved && edit.text.trim() !== '') return this.#draftIdOf(key) === draftId;
    this.#store.dispatch({ type: 'composing', action: { type: 'chosen', key, draftId } });
    return true;
  }

  async deleteDraft(draftId: number): Promise<void> {
    await this.#client.deleteDraft({ draft_id: draftId }).catch(ignoreMissing);
    this.#store.dispatch({ type: 'no draft', draftId });
  }

  #typed(place: Place, hasText: boolean): void {
    const { settings, limits } = this.#store.state().model.writing;
    const isOn =
      settings[place.kind === 'topic' ? 'send_stream_typing_notifications' : 'send_private_typing_notifications'];
    if (!hasText || isOn === false) {
      this.#stopTyping();
      return;
    }
    if (this.#typing && keyOf(this.#typing.place) !== keyOf(place)) this.#stopTyping();
    if (!this.#typing || Date.now() - this.#typing.since >= limits.typingStartedWaitMs) {
      this.#typing = { place, since: Date.now() };
      this.#sendTyping(place, 'start');
    }
    clearTimeout(this.#stopTimer);
    this.#stopTimer = setTimeout(() => this.#stopTyping(), limits.typingStoppedWaitMs);
  }

  #stopTyping(): void {
    clearTimeout(this.#stopTimer);
    if (!this.#typing) return;
    const { place } = this.#typing;
    this.#typing = undefined;
    this.#sendTyping(place, 'stop');
  }

  #sendTyping(place: Place, op: 'start' | 'stop'): void {
    const isAlone = place.kind === 'direct' && place.userIds.every((id) => id === this.#ownId);
    if (isAlone) return;
    const target =
      place.kind === 'topic'
        ? { type: 'channel' as const, stream_id: place.channelId, topic: place.topic }
        : { type: 'direct' as const, to: [...place.userIds] };
    void this.#client.setTyping({ ...target, op }, { retryForMs: 0 }).catch(() => undefined);
  }

  /** A person counts as typing until the event that ends it, or for the time that the server sets. */
  arrived(event: ChatEvent): void {
    if (event.type !== 'typing') return;
    const userId = event.sender.user_id;
    const key = keyOf(placeOfTyping(event, this.#ownId));
    const name = `${userId} ${key}`;
    clearTimeout(this.#typingTimers.get(name));
    this.#typingTimers.delete(name);
    if (event.op === 'stop') return;
    const end = (): void => {
      this.#typingTimers.delete(name);
      this.#store.dispatch({ type: 'composing', action: { type: 'stopped typing', key, userId } });
    };
    this.#typingTimers.set(name, setTimeout(end, this.#store.state().model.writing.limits.typingExpiryMs));
  }
}

/** Drafts name conversations by other words than messages. */
const draftTarget = (place: Place) =>
  place.kind === 'topic'
    ? { type: 'stream' as const, to: [place.channelId], topic: place.topic }
    : { type: 'private' as const, to: [...place.userIds], topic: '' };

function ignoreMissing(error: unknown): void {
  // The page of a proxy has no code.
  if (!(error instanceof ApiError) || error.status !== 404 || error.code === '') throw error;
}
