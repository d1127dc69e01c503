import { limits } from '@natter/contracts';
import type { Author } from '@natter/renderer';
import type { Service } from './deciding.ts';
import { oneLine } from './descriptions.ts';

/** HTML of a checked description. */
export type HtmlOf = (description: string) => string;

/**
 * Renders descriptions before the transaction that stores them, because rendering may wait while a transaction holds
 * locks. Descriptions that are too long are skipped: the transaction refuses them.
 */
export async function renderedDescriptions(
  { owner }: Service,
  author: Author,
  given: readonly (string | undefined)[],
): Promise<HtmlOf> {
  const texts = given.flatMap((text) => (text === undefined ? [] : [oneLine(text)]));
  const short = texts.filter((text) => [...text].length <= limits.channelDescriptionLength);
  const htmls = await owner.renderer.renderTexts(author, short);
  return (description) => {
    const html = htmls.get(description);
    if (html === undefined) throw new Error('A description was not rendered before its transaction');
    return html;
  };
}
