import { channelOperations, type RequestMeta, type ResultOf } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';

export type PostingRules = ResultOf<typeof channelOperations.getPostingRules>;

export interface ChannelCache {
  /** Possibly outdated: commit with the expected version `channel:<id>@<version>`. `fresh` reads from the owner. */
  get(channel: number | string, meta: RequestMeta, fresh: boolean): Promise<PostingRules>;
}

const maxEntries = 10_000;

export function createChannelCache(bus: Bus): ChannelCache {
  const byKey = new Map<string, PostingRules>();
  return {
    async get(channel, meta, fresh) {
      const key = `${meta.realmId}:${typeof channel === 'number' ? channel : `name:${channel.toLowerCase()}`}`;
      const cached = byKey.get(key);
      if (cached && !fresh) return cached;
      const rules = await bus.call(channelOperations.getPostingRules, { channel }, { meta });
      if (byKey.size >= maxEntries) byKey.clear();
      byKey.set(key, rules);
      return rules;
    },
  };
}
