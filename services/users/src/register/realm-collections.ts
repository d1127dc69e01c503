import { readDomains } from '../model/email-domains.ts';
import { readLinkifiers } from '../model/linkifiers.ts';
import { readPlaygrounds } from '../model/playgrounds.ts';
import { readEmoji } from '../model/realm-emoji.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';

/** Collections of a realm, each under its own fetch type. */
export const realmCollectionSnapshots: readonly SnapshotPart[] = [
  {
    types: ['realm_domains'],
    read: async (executor, { realmId, userId }) => ({
      realm_domains: userId === undefined ? [] : await readDomains(executor, realmId),
    }),
  },
  {
    types: ['realm_emoji'],
    read: async (executor, { realmId }) => ({ realm_emoji: await readEmoji(executor, realmId) }),
  },
  {
    types: ['realm_linkifiers'],
    // Only clients of users who write need them.
    read: async (executor, { realmId, userId, capabilities }) => ({
      realm_linkifiers:
        userId !== undefined && capabilities.linkifier_url_template ? await readLinkifiers(executor, realmId) : [],
    }),
  },
  {
    types: ['realm_playgrounds'],
    read: async (executor, { realmId }) => ({ realm_playgrounds: await readPlaygrounds(executor, realmId) }),
  },
  { types: ['realm_filters'], read: async () => ({ realm_filters: [] }) },
  { types: ['realm_billing'], read: async () => ({ realm_billing: { has_pending_sponsorship_request: false } }) },
  { types: ['realm_embedded_bots'], read: async () => ({ realm_embedded_bots: [] }) },
  { types: ['realm_incoming_webhook_bots'], read: async () => ({ realm_incoming_webhook_bots: [] }) },
  { types: ['stop_words'], read: async () => ({ stop_words: [] }) },
  { types: ['video_calls'], read: async () => ({ has_zoom_token: false }) },
  { types: ['giphy'], read: async () => ({ giphy_api_key: '' }) },
];
