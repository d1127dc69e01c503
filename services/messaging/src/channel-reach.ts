import { type Actor, badRequest, ChatError, hasId, type RequestMeta } from '@natter/contracts';
import { hasContentAccess } from '@natter/permissions';
import type { ChannelCache, PostingRules } from './channel-cache.ts';

export interface ChannelReach {
  /**
   * A channel whose messages the actor may read. One that they may not read answers like one that does not exist. A refusal
   * is never made on a copy that may be stale.
   */
  readable(actor: Actor, meta: RequestMeta, channelId: number, fresh?: boolean): Promise<PostingRules>;
}

export function createChannelReach(channels: ChannelCache): ChannelReach {
  return {
    async readable(actor, meta, channelId, fresh = false) {
      for (const isFresh of fresh ? [true] : [false, true]) {
        const channel = await find(meta, channelId, isFresh);
        if (channel && mayRead(channel, actor)) return channel;
      }
      throw badRequest('Invalid channel ID');
    },
  };

  async function find(meta: RequestMeta, channelId: number, fresh: boolean): Promise<PostingRules | undefined> {
    try {
      return await channels.get(channelId, meta, fresh);
    } catch (error) {
      if (error instanceof ChatError && error.code === 'STREAM_DOES_NOT_EXIST') return undefined;
      throw error;
    }
  }
}

export const mayRead = (channel: PostingRules, actor: Actor): boolean =>
  hasContentAccess(channel, actor, hasId(channel.subscribers, actor.userId));

/** What a decision made with this copy of a channel rests on. */
export const channelBasis = (channel: PostingRules): Record<string, number> => ({
  [`channel:${channel.channel_id}`]: channel.version,
});
