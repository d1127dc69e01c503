import { ApiError, type Client } from '@natter/client';
import type { TopicPolicy } from '../state/model.ts';
import { type Emoji, type Message, type Narrow, type Place, termsOf } from '../state/place.ts';
import type { Addition } from '../state/widgets.ts';
import { t } from '../text/text.ts';
import { sha256 } from './sha256.ts';

/** Maximum number of messages per request. */
const maxFlagged = 5_000;

/** Changes messages for the reader; the events that follow change the screen. */
export class MessageActions {
  readonly #client: Client;
  readonly #report: (error: unknown) => void;

  constructor(client: Client, report: (error: unknown) => void) {
    this.#client = client;
    this.#report = report;
  }

  /** Returns whether the change succeeded. */
  async #try(call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  async toggleReaction(message: Message, emoji: Emoji, ownId: number): Promise<void> {
    const isThere = message.reactions.some(
      (one) =>
        one.user_id === ownId && one.emoji_code === emoji.emoji_code && one.reaction_type === emoji.reaction_type,
    );
    const { emoji_name, emoji_code, reaction_type } = emoji;
    const params = { message_id: message.id, emoji_name, emoji_code, reaction_type };
    const call = isThere ? this.#client.removeReaction : this.#client.addReaction;
    // A second click, or another tab, was faster: the reaction is as wanted.
    const isAsWanted = (error: unknown): boolean =>
      error instanceof ApiError &&
      (error.code === 'REACTION_ALREADY_EXISTS' || error.code === 'REACTION_DOES_NOT_EXIST');
    await this.#try(() =>
      call(params).catch((error: unknown) => {
        if (!isAsWanted(error)) throw error;
      }),
    );
  }

  async toggleStar({ id, flags }: Message): Promise<void> {
    const op = flags.includes('starred') ? 'remove' : 'add';
    await this.#try(() => this.#client.updateFlags({ messages: [id], op, flag: 'starred' }));
  }

  async markRead(messages: readonly number[]): Promise<void> {
    await this.#try(async () => {
      for (let start = 0; start < messages.length; start += maxFlagged) {
        const part = messages.slice(start, start + maxFlagged);
        await this.#client.updateFlags({ messages: part, op: 'add', flag: 'read' });
      }
    });
  }

  /** Votes in a poll, changes a list of tasks. Returns whether it succeeded. */
  addToWidget(messageId: number, addition: Addition): Promise<boolean> {
    const content = JSON.stringify(addition);
    return this.#try(() => this.#client.addSubmessage({ message_id: messageId, msg_type: 'widget', content }));
  }

  async chooseTopicPolicy(place: Place, policy: TopicPolicy): Promise<void> {
    if (place.kind !== 'topic') return;
    const { channelId: stream_id, topic } = place;
    await this.#try(() => this.#client.updateUserTopic({ stream_id, topic, visibility_policy: policy }));
  }

  /** The newest messages of a topic, the newest first. Rejects if there is none. */
  async newestOf(place: Place, count: number): Promise<[number, ...number[]]> {
    const page = { narrow: termsOf(place), anchor: 'newest' as const, num_before: count, num_after: 0 };
    const { messages } = await this.#client.getMessages({ ...page, allow_empty_topic_name: true });
    const [newest, ...earlier] = messages.map(({ id }) => id).toReversed();
    if (newest === undefined) throw new Error(t('theTopicHasNoMessages'));
    return [newest, ...earlier];
  }

  /** The first of these messages that is still there; undefined if all were deleted. */
  async firstLeft(ids: readonly number[]): Promise<number | undefined> {
    const { messages } = await this.#client.getMessages({ message_ids: [...ids], allow_empty_topic_name: true });
    const left = new Set(messages.map(({ id }) => id));
    return ids.find((id) => left.has(id));
  }

  /** Gives a topic another name, with all its messages. Returns whether it succeeded. */
  rename(place: Place, topic: string): Promise<boolean> {
    return this.#try(async () => {
      const [newest] = await this.newestOf(place, 1);
      const params = { message_id: newest, topic, propagate_mode: 'change_all' as const };
      await this.#client.updateMessage({ ...params, send_notification_to_new_thread: true });
    });
  }

  /** Makes a message and all later ones of its conversation unread. */
  markUnreadFrom(narrow: Narrow, messageId: number): Promise<boolean> {
    return this.#try(async () => {
      let [anchor, isFirst, isLast] = [messageId, true, false];
      while (!isLast) {
        const done = await this.#client.updateFlagsForNarrow({
          narrow: termsOf(narrow),
          anchor,
          include_anchor: isFirst,
          num_before: 0,
          num_after: maxFlagged - 1,
          op: 'remove',
          flag: 'read',
        });
        isFirst = false;
        isLast = done.found_newest || done.last_processed_id === null;
        anchor = done.last_processed_id ?? anchor;
      }
    });
  }

  /** The Markdown of a message; undefined if it cannot be read. */
  async sourceOf(messageId: number): Promise<string | undefined> {
    let source: string | undefined;
    await this.#try(async () => {
      source = (await this.#client.getMessage({ message_id: messageId })).raw_content;
    });
    return source;
  }

  /** Replaces the text of a message. Changes nothing if the text is no longer `base`. */
  async edit(messageId: number, content: string, base: string): Promise<'saved' | 'outdated' | 'failed'> {
    try {
      const prev_content_sha256 = await sha256(base);
      await this.#client.updateMessage({
        message_id: messageId,
        content,
        ...(prev_content_sha256 === undefined ? {} : { prev_content_sha256 }),
      });
      return 'saved';
    } catch (error) {
      if (error instanceof ApiError && error.code === 'EXPECTATION_MISMATCH') return 'outdated';
      this.#report(error);
      return 'failed';
    }
  }

  delete(messageId: number): Promise<boolean> {
    return this.#try(() => this.#client.deleteMessage({ message_id: messageId }));
  }
}
