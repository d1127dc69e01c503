import { createHash } from 'node:crypto';
import { type Database, deleteInBatches, sql } from '@natter/database';
import type { PagePreview } from '@natter/markdown';
import { z } from 'zod';

const keptHours = 24;
/** A page that failed, or has nothing to show, is not fetched again for this time. */
const failureKeptMinutes = 10;
/** Pages that are fetched for a realm in an hour; further links have no previews. */
const maxPerHour = 1_000;

const cachedRow = z.object({
  url_hash: z.string(),
  title: z.string().nullable(),
  description: z.string().nullable(),
  image: z.string().nullable(),
});

/** The hash of the address, in hex. */
const hashOf = (url: string): string => createHash('sha256').update(url).digest('hex');

/** The known pages among these addresses. `undefined`: the page has nothing to show. */
export async function cachedPages(
  database: Database,
  realmId: number,
  urls: readonly string[],
): Promise<Map<string, PagePreview | undefined>> {
  const hashes = new Map(urls.map((url) => [hashOf(url), url]));
  const rows = await database.any(sql.type(cachedRow)`
    SELECT encode(url_hash, 'hex') AS url_hash, title, description, image FROM messaging.link_preview
    WHERE realm_id = ${realmId} AND expires_at > clock_timestamp()
      AND url_hash IN (SELECT decode(h, 'hex') FROM unnest(${sql.array([...hashes.keys()], 'text')}) h)`);
  const pages = new Map<string, PagePreview | undefined>();
  for (const { url_hash, title, description, image } of rows) {
    const page = { title: title ?? undefined, description: description ?? undefined, image: image ?? undefined };
    pages.set(hashes.get(url_hash) ?? '', title === null && description === null ? undefined : page);
  }
  return pages;
}

export async function storePage(
  database: Database,
  realmId: number,
  url: string,
  page: PagePreview | undefined,
): Promise<void> {
  const minutes = page === undefined ? failureKeptMinutes : keptHours * 60;
  await database.run(sql.unsafe`
    INSERT INTO messaging.link_preview (realm_id, url_hash, title, description, image, expires_at)
    VALUES (${realmId}, decode(${hashOf(url)}, 'hex'), ${page?.title ?? null}, ${page?.description ?? null}, ${page?.image ?? null},
      clock_timestamp() + make_interval(mins => ${minutes}))
    ON CONFLICT (realm_id, url_hash) DO UPDATE SET title = excluded.title, description = excluded.description,
      image = excluded.image, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at`);
}

const roomRow = z.object({ used: z.number() });

/** How many more pages may be fetched for the realm now. */
export async function fetchesLeft(database: Database, realmId: number): Promise<number> {
  const { used } = await database.one(sql.type(roomRow)`
    SELECT count(*) AS used FROM (SELECT FROM messaging.link_preview
      WHERE realm_id = ${realmId} AND fetched_at BETWEEN clock_timestamp() - interval '1 hour' AND clock_timestamp() LIMIT ${maxPerHour}) recent`);
  return maxPerHour - used;
}

/** Pages count for an hour, so a failure is kept for this long. */
export const forgetPages = (database: Database, isStopped: () => boolean): Promise<void> =>
  deleteInBatches(database, 'messaging.link_preview', sql.fragment`expires_at < now() - interval '1 hour'`, isStopped);
