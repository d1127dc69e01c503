import { createHash } from 'node:crypto';
import { sharePerMember } from '@natter/contracts';
import { type Database, deleteInBatches, sql } from '@natter/database';
import type { PagePreview } from '@natter/markdown';
import { z } from 'zod';
import { ownerOf } from '../model/owner-of.ts';
import type { PreviewJob } from './jobs.ts';

const keptHours = 24;
/** A page that failed, or has nothing to show, is not fetched again for this time. */
const failureKeptMinutes = 10;
/** Pages that are fetched in an hour for a realm, and for the messages of one person; further links have no previews. */
const maxPerHour = 1_000;
const maxPerPerson = maxPerHour * sharePerMember;

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
    const page =
      image === null ? undefined : { title: title ?? undefined, description: description ?? undefined, image };
    pages.set(hashes.get(url_hash) ?? '', page);
  }
  return pages;
}

export interface FetchedPage {
  realmId: number;
  causedBy: number;
  url: string;
  page: PagePreview | undefined;
}

export async function storePage(database: Database, { realmId, causedBy, url, page }: FetchedPage): Promise<void> {
  const minutes = page === undefined ? failureKeptMinutes : keptHours * 60;
  await database.run(sql.unsafe`
    INSERT INTO messaging.link_preview (realm_id, url_hash, title, description, image, caused_by, expires_at)
    VALUES (${realmId}, decode(${hashOf(url)}, 'hex'), ${page?.title ?? null}, ${page?.description ?? null}, ${page?.image ?? null}, ${causedBy},
      clock_timestamp() + make_interval(mins => ${minutes}))
    ON CONFLICT (realm_id, url_hash) DO UPDATE SET title = excluded.title, description = excluded.description,
      image = excluded.image, caused_by = excluded.caused_by, fetched_at = excluded.fetched_at, expires_at = excluded.expires_at`);
}

const roomRow = z.object({ caused_by: z.number(), used: z.number(), used_by_person: z.number() });

/** For whom the pages of a message are fetched, and how many more may be fetched now. None if the message is gone. */
export async function fetchesLeft(
  database: Database,
  { realm_id, message_id }: Pick<PreviewJob, 'realm_id' | 'message_id'>,
): Promise<{ causedBy: number; left: number }> {
  const bot = { realmId: sql.fragment`m.realm_id`, botId: sql.fragment`m.sender_id` };
  const row = await database.maybeOne(sql.type(roomRow)`
    WITH cause AS (SELECT ${ownerOf(bot)} AS caused_by FROM messaging.message m WHERE m.realm_id = ${realm_id} AND m.id = ${message_id})
    SELECT c.caused_by, count(r)::int AS used, (count(r) FILTER (WHERE r.caused_by = c.caused_by))::int AS used_by_person
    FROM cause c LEFT JOIN (SELECT caused_by FROM messaging.link_preview
      WHERE realm_id = ${realm_id} AND fetched_at BETWEEN clock_timestamp() - interval '1 hour' AND clock_timestamp() LIMIT ${maxPerHour}) r ON true
    GROUP BY c.caused_by`);
  if (!row) return { causedBy: 0, left: 0 };
  const left = Math.min(maxPerHour - row.used, maxPerPerson - row.used_by_person);
  return { causedBy: row.caused_by, left: Math.max(left, 0) };
}

/** Pages count for an hour, so a failure is kept for this long. */
export const forgetPages = (database: Database, isStopped: () => boolean): Promise<void> =>
  deleteInBatches(database, 'messaging.link_preview', sql.fragment`expires_at < now() - interval '1 hour'`, isStopped);
