import { type Actor, badRequest, ChatError, hasId, type RequestMeta } from '@natter/contracts';
import { type Database, readVersions } from '@natter/database';
import { hasContentAccess } from '@natter/permissions';
import type { ChannelCache, PostingRules } from './channel-cache.ts';

export interface ChannelAccess {
  /**
   * A channel whose messages the actor may read; any other is answered like one that does not exist. The version of the
   * cached copy is compared with the current one, so a user whose access was revoked reads nothing more.
   */
  readable(actor: Actor, meta: RequestMeta, channelId: number, fresh?: boolean): Promise<PostingRules>;
  /**
   * The current copies of the channels whose messages the actor may read, by id. At most `most` are looked up; others count as
   * closed.
   */
  readableAmong(
    actor: Actor,
    meta: RequestMeta,
    channelIds: readonly number[],
    most?: number,
  ): Promise<ReadonlyMap<number, PostingRules>>;
}

/** Most channels that a request looks up one by one, unless its weight allows more, and how many of them at once. */
const [mostLookedUp, atOnce] = [100, 10];

export const invalidChannelId = (): ChatError => badRequest('Invalid channel ID');

export function createChannelAccess(channels: ChannelCache, database: Database): ChannelAccess {
  return {
    async readable(actor, meta, channelId, fresh = false) {
      const channel = fresh ? await find(meta, channelId, true) : (await current(meta, [channelId]))[0];
      if (channel && mayRead(channel, actor)) return channel;
      throw invalidChannelId();
    },
    async readableAmong(actor, meta, channelIds, most = mostLookedUp) {
      const readable = new Map<number, PostingRules>();
      const asked = channelIds.slice(0, most);
      for (let from = 0; from < asked.length; from += atOnce)
        for (const channel of await current(meta, asked.slice(from, from + atOnce)))
          if (channel && mayRead(channel, actor)) readable.set(channel.channel_id, channel);
      return readable;
    },
  };

  /** The channels in their current version; undefined if they do not exist. */
  async function current(meta: RequestMeta, ids: readonly number[]): Promise<(PostingRules | undefined)[]> {
    const copies = await Promise.all(ids.map((id) => find(meta, id, false)));
    const keys = ids.map((id) => `channel:${id}`);
    const versions = await readVersions(database, meta.realmId, keys);
    return Promise.all(
      ids.map((id, index) => {
        const copy = copies[index];
        return copy && copy.version === versions[`channel:${id}`] ? copy : find(meta, id, true);
      }),
    );
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
