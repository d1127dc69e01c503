import { type Executor, readAtOnceIf } from '@natter/database';
import {
  type MessageObject,
  type MessageReader,
  messageObjects,
  objectsOf,
  partsOf,
  type ShownAs,
} from '../model/reading/message-object.ts';
import type { Page } from '../model/reading/page.ts';
import { isSmall, sizesOf, slicesOf } from './page-bytes.ts';

/**
 * Reads the messages of a page, and passes their objects to `take`, in ascending order. `limit` reduces or refuses the
 * page by the sizes of its messages; returns the reduced page. A small page is read in one statement with the sizes, a
 * larger one in slices, so that other requests are served in between.
 */
export async function readPage(
  executor: Executor,
  reader: MessageReader,
  page: Page,
  shown: ShownAs,
  limit: (page: Page, sizes: ReadonlyMap<number, number>) => Page,
  take: (objects: readonly MessageObject[]) => void,
): Promise<Page> {
  if (page.ids.length === 0) return limit(page, new Map());
  const { realmId, userId } = reader;
  const sized = { applyMarkdown: shown.applyMarkdown, isSearch: shown.search !== undefined };
  const sizesFirst = { first: sizesOf(realmId, page.ids, sized), condition: isSmall };
  const { first, rest } = await readAtOnceIf(executor, sizesFirst, partsOf(realmId, userId, page.ids, shown));
  const sizes = new Map(first.map(({ id, bytes }) => [id, bytes]));
  const limited = limit(page, sizes);
  if (rest) take(await objectsOf(executor, reader, rest, shown));
  else for (const ids of slicesOf(limited.ids, sizes)) take(await messageObjects(executor, reader, ids, shown));
  return limited;
}
