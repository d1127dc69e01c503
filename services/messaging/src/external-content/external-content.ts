import { type Page, uploadOperations } from '@natter/contracts';
import { externalContentAddress } from '@natter/markdown';
import { type Handlers, handle, type JsonPieces, type Owner, pageOfBytes, wideNetwork } from '@natter/service-kit';
import type { MessagingConfig } from '../model/config.ts';
import { externalContentKey } from '../model/external-content-key.ts';
import { reachable } from '../model/outgoing/public-address.ts';
import { createBoundedFetches } from './bounded-fetches.ts';
import { fetchMedia, type Media } from './fetch-media.ts';

const mib = 1024 * 1024;
/** Time limit of a fetch, below the deadline of the request. */
const timeoutMs = 8_000;
const browserCacheSeconds = 86_400;

/** Fetches images and videos of other sites for readers, so that the sites do not learn who reads a message. */
export function externalContentHandlers({ database }: Owner, config: MessagingConfig): Handlers {
  const rules = reachable(config.NATTER_EXTERNAL_CONTENT_NETWORKS);
  const maxBytes = config.NATTER_EXTERNAL_CONTENT_MAX_MIB * mib;
  const fetch = createBoundedFetches(
    (address) => fetchMedia(address, { ...rules, maxBytes, timeoutMs }),
    config.NATTER_EXTERNAL_CONTENT_CACHE_MIB * mib,
  );
  return [
    handle(uploadOperations.getExternalContent, async ({ meta, signal }, { signature, address }) => {
      const url = externalContentAddress(signature, address, await externalContentKey(database, meta.realmId));
      if (url === undefined) return notFound;
      // A failing site is not a fault of this server, so it is not logged. Readers get 404 without a reason.
      const reader = { realmId: meta.realmId, requester: wideNetwork(meta.network ?? '') };
      const media = await fetch(reader, url, signal).catch(() => undefined);
      return media === undefined ? notFound : pageOf(media);
    }),
  ];
}

const pageOf = ({ type, content }: Media): Promise<JsonPieces> =>
  pageOfBytes({ status: 200, content_type: type, cache_seconds: browserCacheSeconds }, content);

const notFound: Page = {
  status: 404,
  content_type: 'text/plain; charset=utf-8',
  body: 'Not found.\n',
  is_base64: false,
  cache_seconds: 0,
};
