import type { ChatEvent } from '@natter/client';
import type { Snapshot } from './snapshot.ts';

/** A domain whose addresses may join. */
interface Domain {
  domain: string;
  allow_subdomains: boolean;
}

/** A site that can run code of a language. */
interface Playground {
  id: number;
  name: string;
  pygments_language: string;
  url_template: string;
}

export const pictureKinds = ['icon', 'logo', 'night_logo'] as const;
export type PictureKind = (typeof pictureKinds)[number];
interface RealmPicture {
  url: string;
  /** Whether it is a picture of the organization, not of the server. */
  isOwn: boolean;
}

/** Domains, playgrounds, default channels and pictures, which administrators edit. */
export interface Collections {
  domains: readonly Domain[];
  playgrounds: readonly Playground[];
  /** The ids of the channels to which newcomers are subscribed. */
  defaultChannels: readonly number[];
  pictures: Readonly<Record<PictureKind, RealmPicture>>;
}

/** The types of events, and of parts of the register's answer, of these collections. */
export const collectionTypes = ['realm_domains', 'realm_playgrounds', 'default_streams'];

type PictureFields = Readonly<Record<string, unknown>>;

const pictureOf = (raw: PictureFields, prefix: string): RealmPicture => ({
  url: String(raw[`${prefix}_url`]),
  isOwn: raw[`${prefix}_source`] === 'U',
});

export function collectionsOf(raw: Snapshot): Collections {
  const picture = (kind: PictureKind) => pictureOf(raw, `realm_${kind}`);
  return {
    domains: raw.realm_domains,
    playgrounds: raw.realm_playgrounds,
    defaultChannels: raw.realm_default_streams,
    pictures: { icon: picture('icon'), logo: picture('logo'), night_logo: picture('night_logo') },
  };
}

export function applyToCollections(before: Collections, event: ChatEvent): Collections {
  switch (event.type) {
    case 'realm_domains':
      return { ...before, domains: domainsAfter(before.domains, event) };
    case 'realm_playgrounds':
      return { ...before, playgrounds: event.realm_playgrounds };
    case 'default_streams':
      return { ...before, defaultChannels: event.default_streams };
    case 'realm': {
      const kind = event.op === 'update_dict' ? pictureKinds.find((one) => one === event.property) : undefined;
      if (kind === undefined || event.op !== 'update_dict') return before;
      return { ...before, pictures: { ...before.pictures, [kind]: pictureOf(event.data, kind) } };
    }
    default:
      return before;
  }
}

function domainsAfter(
  domains: readonly Domain[],
  event: Extract<ChatEvent, { type: 'realm_domains' }>,
): readonly Domain[] {
  if (event.op === 'remove') return domains.filter(({ domain }) => domain !== event.domain);
  const { realm_domain: given } = event;
  if (event.op === 'change') return domains.map((one) => (one.domain === given.domain ? given : one));
  return [...domains.filter(({ domain }) => domain !== given.domain), given];
}
