import { ApiError, type Client } from '@natter/client';
import type { TopicPolicy } from '../state/model.ts';
import { type Emoji, type Message, type Narrow, type Place, termsOf } from '../state/place.ts';
import type { Addition } from '../state/widgets.ts';

/** A request takes at most so many messages. */
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
    await this.#try(() => this.#client.updateFlags({ messages: messages.slice(-maxFlagged), op: 'add', flag: 'read' }));
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

  /** The newest message of a conversation; undefined if there is none, or none can be read. */
  async newestOf(place: Place): Promise<number | undefined> {
    let newest: number | undefined;
    await this.#try(async () => {
      const page = { narrow: termsOf(place), anchor: 'newest' as const, num_before: 1, num_after: 0 };
      newest = (await this.#client.getMessages({ ...page, allow_empty_topic_name: true })).messages.at(-1)
        ?.id as number;
    });
    return newest;
  }

  /** Gives a topic another name, with all its messages. Returns whether it succeeded. */
  async rename(place: Place, topic: string): Promise<boolean> {
    const newest = await this.newestOf(place);
    if (newest === undefined) return false;
    const params = { message_id: newest, topic, propagate_mode: 'change_all' as const };
    return this.#try(() => this.#client.updateMessage({ ...params, send_notification_to_new_thread: true }));
  }

  /** Makes a message and all later ones of its conversation unread. */
  markUnreadFrom(narrow: Narrow, messageId: number): Promise<boolean> {
    return this.#try(() =>
      this.#client.updateFlagsForNarrow({
        narrow: termsOf(narrow),
        anchor: messageId,
        num_before: 0,
        num_after: maxFlagged - 1,
        op: 'remove',
        flag: 'read',
      }),
    );
  }

  /** The Markdown of a message; undefined if it cannot be read. */
  async sourceOf(messageId: number): Promise<string | undefined> {
    let source: string | undefined;
    await this.#try(async () => {
      source = (await this.#client.getMessage({ message_id: messageId })).raw_content;
    });
    return source;
  }

  edit(messageId: number, content: string): Promise<boolean> {
    return this.#try(() => this.#client.updateMessage({ message_id: messageId, content }));
  }

  delete(messageId: number): Promise<boolean> {
    return this.#try(() => this.#client.deleteMessage({ message_id: messageId }));
  }
}
