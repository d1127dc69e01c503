import type { Actor, messagingOperations, ParamsOf, RequestMeta } from '@natter/contracts';

export type Params = ParamsOf<typeof messagingOperations.sendMessage> & {
  /** A bot's notice that a topic was resolved. */
  isResolution?: boolean;
  /** The user whose action a bot's notice reports. */
  readBy?: number;
  /** For a bot's message to one user, with text of users: it resolves only the names and files that this user may see. */
  seenBy?: Actor;
};

/** A message that an actor asks to send. */
export interface SendRequest {
  actor: Actor;
  meta: RequestMeta;
  params: Params;
  /** The checked content. */
  content: string;
  /** Decides without cached data, which may be outdated. */
  fresh: boolean;
}
