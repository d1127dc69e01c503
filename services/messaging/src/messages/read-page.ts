import type { MessageObject } from '@natter/contracts';
import { type Executor, readAtOnceIf } from '@natter/database';
import { messageObjects, objectsOf, partsOf, type ShownAs, type Viewer } from '../model/reading/message-object.ts';
import type { Page } from '../model/reading/page.ts';
import { isSmall, sizesOf, slicesOf, smallMessages } from './page-bytes.ts';

interface PageReading {
  shown: ShownAs;
  /** Reduces or refuses the page by the sizes of its messages. */
  limit: (page: Page, sizes: ReadonlyMap<number, number>) => Page;
  /** Gets the objects in ascending order. */
  take: (objects: readonly MessageObject[]) => void;
}

/**
 * Reads the messages of a page; returns the reduced page. A small page is read in one statement with the sizes, a
 * larger one in slices, so that other requests are served in between.
 */
export async function readPage(
  executor: Executor,
  viewer: Viewer,
  page: Page,
  { shown, limit, take }: PageReading,
): Promise<Page> {
  if (page.ids.length === 0) return limit(page, new Map());
  const { first, rest } = await readIfSmall(executor, viewer, page.ids, shown);
  const sizes = new Map(first.map(({ id, bytes }) => [id, bytes]));
  const limited = limit(page, sizes);
  if (rest) take(await objectsOf(executor, viewer, rest, shown));
  else for (const ids of slicesOf(limited.ids, sizes)) take(await messageObjects(executor, viewer, ids, shown));
  return limited;
}

/** The sizes of messages, and what they consist of if they are few and small. */
async function readIfSmall(executor: Executor, viewer: Viewer, ids: readonly number[], shown: ShownAs) {
  const sizes = sizesOf(viewer.realmId, ids, {
    applyMarkdown: shown.applyMarkdown,
    isSearch: shown.search !== undefined,
  });
  if (ids.length > smallMessages) return { first: await executor.any(sizes), rest: undefined };
  return readAtOnceIf(executor, { first: sizes, condition: isSmall }, partsOf(viewer, ids, shown));
}
