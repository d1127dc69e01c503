import { channelOperations, type RequestMeta, type ResultOf } from '@natter/contracts';
import { type Bus, createSharedCache, heapBytes, stringBytes } from '@natter/service-kit';

export type PostingRules = ResultOf<typeof channelOperations.getPostingRules>;

export interface ChannelCache {
  /** Possibly outdated: commit with the expected version `channel:<id>@<version>`. `fresh` reads from the owner. */
  get(channel: number | string, meta: RequestMeta, fresh: boolean): Promise<PostingRules>;
}

/** Memory of the channels of all organizations: about 16,000 with a hundred subscribers each. */
const maxBytes = 32 * 1024 * 1024;

export function createChannelCache(bus: Bus): ChannelCache {
  const known = createSharedCache<PostingRules>({
    maxBytes,
    sizeOf: (rules, key) => heapBytes(rules) + stringBytes(key),
  });
  return {
    async get(channel, meta, fresh) {
      const key = typeof channel === 'number' ? `${channel}` : `name:${channel.toLowerCase()}`;
      const cached = fresh ? undefined : known.get(meta.realmId, key);
      if (cached) return cached;
      const rules = await bus.call(channelOperations.getPostingRules, { channel }, { meta });
      known.set(meta.realmId, key, rules);
      return rules;
    },
  };
}
