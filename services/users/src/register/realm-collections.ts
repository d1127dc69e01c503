import { readDomains } from '../model/email-domains.ts';
import { readLinkifiers } from '../model/linkifiers.ts';
import { readPlaygrounds } from '../model/playgrounds.ts';
import { readEmoji } from '../model/realm-emoji.ts';
import { publicPart, type SnapshotPart } from '../model/snapshot-part.ts';

/** Collections of a realm, each under its own fetch type. */
export const realmCollectionSnapshots: readonly SnapshotPart[] = [
  {
    types: ['realm_domains'],
    read: async (executor, { realmId }) => ({ realm_domains: await readDomains(executor, realmId) }),
    spectators: { realm_domains: [] },
  },
  publicPart(['realm_emoji'], async (executor, { realmId }) => ({ realm_emoji: await readEmoji(executor, realmId) })),
  {
    types: ['realm_linkifiers'],
    read: async (executor, { realmId, capabilities }) => ({
      realm_linkifiers: capabilities.linkifier_url_template ? await readLinkifiers(executor, realmId) : [],
    }),
    // Linkifiers are used to preview a message while it is written, which spectators cannot do.
    spectators: { realm_linkifiers: [] },
  },
  publicPart(['realm_playgrounds'], async (executor, { realmId }) => ({
    realm_playgrounds: await readPlaygrounds(executor, realmId),
  })),
  constant('realm_filters', { realm_filters: [] }),
  constant('realm_billing', { realm_billing: { has_pending_sponsorship_request: false } }),
  constant('realm_embedded_bots', { realm_embedded_bots: [] }),
  constant('realm_incoming_webhook_bots', { realm_incoming_webhook_bots: [] }),
  constant('stop_words', { stop_words: [] }),
  constant('video_calls', { has_zoom_token: false }),
  constant('giphy', { giphy_api_key: '' }),
];

function constant(type: string, section: Record<string, unknown>): SnapshotPart {
  return publicPart([type], async () => section);
}
