import type { Actor, RequestMeta } from '@natter/contracts';
import type { Database, Decided } from '@natter/database';
import type { ChannelCache } from '../channel-cache.ts';
import { findDestination } from '../destination.ts';
import { findPeople } from '../people.ts';
import { checkedContent, decide } from '../send-message.ts';

/** A message to be sent, as `POST /messages` takes it. */
export interface Sendable {
  type: 'channel' | 'direct';
  to: number | number[];
  topic: string | undefined;
  content: string;
  read_by_sender: boolean | undefined;
}

/**
 * Decides a send exactly as `POST /messages` does: what is refused there is refused here, with the same error. `fresh`: not on
 * copies that may be stale.
 */
export type DecideSend = (actor: Actor, meta: RequestMeta, message: Sendable, fresh: boolean) => Promise<Decided>;

export const createDecideSend =
  (database: Database, channels: ChannelCache): DecideSend =>
  async (actor, meta, message, fresh) => {
    const content = checkedContent(message.content);
    const params = { ...message, queue_id: undefined, local_id: undefined };
    const destination = await findDestination({ database, channels }, actor, meta, params, fresh);
    const [sender] = await findPeople(database, actor.realmId, [actor.userId]);
    return decide(actor, sender, destination, content, params, meta.client, undefined);
  };
