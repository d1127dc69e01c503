import type { Actor, messagingOperations, ParamsOf, RequestMeta } from '@natter/contracts';
import type { MarkdownSource } from '@natter/markdown';
import type { LinkedChannels } from './render-context.ts';

export type Params = ParamsOf<typeof messagingOperations.sendMessage> & {
  /** A bot's notice that a topic was resolved. */
  isResolution?: boolean;
  /** The user whose action a bot's notice reports. */
  readBy?: number;
  /** The channels that a bot's notice links. */
  linkedChannelIds?: LinkedChannels;
  /** The receiver of a bot's message with text of users: only names and files that the receiver may see are resolved. */
  seenBy?: Actor;
  /** Whether versions changed in several attempts. Then the send stores no preferences for mentioned users. */
  isContested?: boolean;
};

/** Whether a send is contested. `attempt`: from 0. */
export const isContested = (attempt: number): boolean => attempt > 2;

/** A message that an actor asks to send. */
export interface SendRequest {
  actor: Actor;
  meta: RequestMeta;
  params: Params;
  /** The checked content. */
  content: MarkdownSource;
  /** Decides without cached data, which may be outdated. */
  fresh: boolean;
}
