import { type Actor, ChatError, type RequestMeta } from '@natter/contracts';
import type { Decided } from '@natter/database';
import { checkedContent } from '../send-message.ts';
import { decideSend, type Sending } from '../sending/decide-send.ts';

/** A message to be sent, as `POST /messages` takes it. */
export interface Sendable {
  type: 'channel' | 'direct';
  to: number | number[];
  topic: string | undefined;
  content: string;
  read_by_sender: boolean | undefined;
  isResolution?: boolean;
}

/**
 * Decides a send exactly as `POST /messages` does: what is refused there is refused here, with the same error. `fresh`: not on
 * copies that may be stale.
 */
export type DecideSend = (actor: Actor, meta: RequestMeta, message: Sendable, fresh: boolean) => Promise<Decided>;

export const createDecideSend =
  (sending: Sending): DecideSend =>
  async (actor, meta, message, fresh) => {
    if (message.type === 'channel' && message.topic === undefined)
      throw new ChatError('REQUEST_VARIABLE_MISSING', "Missing 'topic' argument", { var_name: 'topic' });
    const params = { ...message, queue_id: undefined, local_id: undefined, widget_content: undefined };
    return decideSend(sending, actor, meta, params, checkedContent(message.content), fresh);
  };
