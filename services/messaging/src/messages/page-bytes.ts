import { badRequest, maxPageBytes } from '@natter/contracts';
import { sql } from '@natter/database';
import { z } from 'zod';
import type { Page } from '../model/reading/page.ts';

const sizeRow = z.object({ id: z.number(), bytes: z.number() });
/** This many messages always fit: the totals of a message limit its text, edits and submessages. */
const alwaysFits = 2;
const [reactionBytes, participantBytes] = [200, 200];

export interface Sized {
  applyMarkdown: boolean;
  /** Matches are highlighted beside the text, which costs much more. */
  isSearch: boolean;
}

const sliceMessages = 250;
const sliceBytes = 256 * 1024;

/** Messages to read and serialize at a time, so that other requests are served in between. */
export function* slicesOf(ids: readonly number[], sizes: ReadonlyMap<number, number>): Generator<number[]> {
  let slice: number[] = [];
  let bytes = 0;
  for (const id of ids) {
    if (slice.length === sliceMessages || (slice.length > 0 && bytes >= sliceBytes)) {
      yield slice;
      [slice, bytes] = [[], 0];
    }
    slice.push(id);
    bytes += sizes.get(id) ?? 0;
  }
  if (slice.length > 0) yield slice;
}

/** Maximum number of messages of a small page. */
export const smallMessages = 100;
const smallBytes = 64 * 1024;
/** Whether the text of a page is small, over the rows of `sizesOf`. */
export const isSmall = sql.fragment`coalesce(sum(bytes), 0) <= ${smallBytes}`;

/** Removes messages farthest from the anchor if a page has more text than one answer may contain. */
export function withinBytes(page: Page, bytes: ReadonlyMap<number, number>): Page {
  const sizes = page.ids.map((id) => bytes.get(id) ?? 0);
  let [first, last] = [page.before, page.before];
  let total = 0;
  // Alternates between the messages before and after the anchor.
  const isWithin = (index: number): boolean => {
    total += sizes[index] ?? 0;
    return total <= maxPageBytes || last - first < alwaysFits;
  };
  for (let goesOn = true; goesOn && (first > 0 || last < sizes.length); ) {
    if (last < sizes.length) goesOn = isWithin(last);
    if (goesOn && last < sizes.length) last++;
    if (goesOn && first > 0) {
      goesOn = isWithin(first - 1);
      if (goesOn) first--;
    }
  }
  return {
    ...page,
    ids: page.ids.slice(first, last),
    foundOldest: page.foundOldest && first === 0,
    foundNewest: page.foundNewest && last === sizes.length,
  };
}

/** For messages requested by id: omitting some would imply that they do not exist. */
export function requireWithinBytes(page: Page, bytes: ReadonlyMap<number, number>): Page {
  const total = page.ids.reduce((sum, id) => sum + (bytes.get(id) ?? 0), 0);
  if (page.ids.length > alwaysFits && total > maxPageBytes)
    throw badRequest('The messages have too much text for one request. Ask for fewer of them.');
  return page;
}

/** Approximate size of each message in the answer. */
export function sizesOf(realmId: number, ids: readonly number[], { applyMarkdown, isSearch }: Sized) {
  const text = applyMarkdown ? sql.fragment`m.rendered_content` : sql.fragment`m.content`;
  const shown = isSearch
    ? sql.fragment`octet_length(${text}) + 4 * octet_length(m.rendered_content)`
    : sql.fragment`octet_length(${text})`;
  const ofMessages = (table: ReturnType<typeof sql.fragment>): ReturnType<typeof sql.fragment> =>
    sql.fragment`${table} WHERE realm_id = ${realmId} AND message_id = ANY(${sql.array([...ids], 'int8')}) GROUP BY message_id`;
  return sql.type(sizeRow)`
    SELECT id, sum(bytes)::float8 AS bytes FROM (
      SELECT m.id, ${shown} + ${participantBytes} * coalesce(cardinality(m.recipient_ids), 0) AS bytes FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.id = ANY(${sql.array([...ids], 'int8')})
      UNION ALL SELECT message_id, ${reactionBytes} * count(*) FROM ${ofMessages(sql.fragment`messaging.reaction`)}
      UNION ALL SELECT message_id, sum(octet_length(content)) FROM ${ofMessages(sql.fragment`messaging.submessage`)}
      UNION ALL SELECT message_id, sum(coalesce(octet_length(prev_content), 0) + coalesce(octet_length(prev_rendered_content), 0)
        + coalesce(octet_length(prev_topic), 0) + coalesce(octet_length(topic), 0) + ${reactionBytes})
        FROM ${ofMessages(sql.fragment`messaging.message_edit`)}
    ) sizes GROUP BY id`;
}
