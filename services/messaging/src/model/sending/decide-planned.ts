import type { Actor, RequestMeta } from '@natter/contracts';
import type { Decided } from '@natter/database';
import { checkedContent } from '../checked-content.ts';
import { decideSend, type Sending } from './decide-send.ts';
import type { LinkedChannels } from './render-context.ts';

/** A message to send, with the parameters of `POST /messages`. */
export interface Sendable {
  type: 'channel' | 'direct';
  to: number | number[];
  topic: string | undefined;
  content: string;
  read_by_sender: boolean | undefined;
  isResolution?: boolean;
  readBy?: number;
  linkedChannelIds?: LinkedChannels;
  seenBy?: Actor;
  isContested?: boolean;
  widget_content?: string | undefined;
}

/** Decides a send exactly like `POST /messages`, with the same refusals. `fresh`: without cached data, which may be outdated. */
export type DecideSend = (actor: Actor, meta: RequestMeta, message: Sendable, fresh: boolean) => Promise<Decided>;

export const createDecideSend =
  (sending: Sending): DecideSend =>
  async (actor, meta, message, fresh) => {
    const unset = { queue_id: undefined, local_id: undefined, sender: undefined, forged: undefined, time: undefined };
    const params = { widget_content: undefined, ...message, ...unset };
    return decideSend(sending, { actor, meta, params, content: checkedContent(message.content), fresh });
  };
