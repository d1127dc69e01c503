import { type Actor, badRequest, ChatError, hasId, type RequestMeta } from '@natter/contracts';
import { type Database, sql } from '@natter/database';
import { hasContentAccess } from '@natter/permissions';
import { z } from 'zod';
import type { ChannelCache, PostingRules } from './channel-cache.ts';

export interface ChannelAccess {
  /**
   * A channel whose messages the actor may read; any other is answered like one that does not exist. The version of the
   * cached copy is compared with the current one, so a user whose access was revoked reads nothing more.
   */
  readable(actor: Actor, meta: RequestMeta, channelId: number, fresh?: boolean): Promise<PostingRules>;
}

export const invalidChannelId = (): ChatError => badRequest('Invalid channel ID');

const versionRow = z.object({ version: z.number() });

export function createChannelAccess(channels: ChannelCache, database: Database): ChannelAccess {
  return {
    async readable(actor, meta, channelId, fresh = false) {
      const copy = fresh ? undefined : await find(meta, channelId, false);
      const isCurrent = copy !== undefined && copy.version === (await versionOf(meta.realmId, channelId));
      const channel = isCurrent ? copy : await find(meta, channelId, true);
      if (channel && mayRead(channel, actor)) return channel;
      throw invalidChannelId();
    },
  };

  async function versionOf(realmId: number, channelId: number): Promise<number> {
    const { version } = await database.one(sql.type(versionRow)`
      SELECT version FROM log.versions(${realmId}, ${sql.array([`channel:${channelId}`], 'text')})`);
    return version;
  }

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

/** The expected version of decisions made with this copy of a channel. */
export const channelVersions = (channel: PostingRules): Record<string, number> => ({
  [`channel:${channel.channel_id}`]: channel.version,
});
