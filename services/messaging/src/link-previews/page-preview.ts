import type { PagePreview } from '@natter/markdown';
import { factsOf } from './page-facts.ts';

/** Maximum length of a title, in characters. */
export const maxTitleLength = 200;
export const maxDescriptionLength = 300;
/** Longer addresses of images are ignored: each byte takes two characters of the message. */
export const maxImageLength = 1_000;

/**
 * The preview of a page, with bounded lengths; undefined without an image, or without title and description. `url`: its own
 * address.
 */
export function previewOf(html: string, url: string): PagePreview | undefined {
  const facts = factsOf(html);
  const title = shortened(facts.get('og:title') ?? facts.get('title'), maxTitleLength);
  const description = shortened(facts.get('og:description') ?? facts.get('description'), maxDescriptionLength);
  const image = imageAt(facts.get('og:image'), url);
  return image === undefined || (title ?? description) === undefined ? undefined : { title, description, image };
}

/** Without control characters, which a page uses for nothing that is shown, and cut at a character. */
function shortened(text: string | undefined, limit: number): string | undefined {
  if (text === undefined) return undefined;
  const clean = text
    .slice(0, 20 * limit)
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  if (clean === '') return undefined;
  const characters = [...clean];
  return characters.length <= limit
    ? clean
    : `${characters
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`;
}

function imageAt(address: string | undefined, url: string): string | undefined {
  const image = address === undefined ? undefined : URL.parse(address.trim(), url);
  if (!image || !/^https?:$/.test(image.protocol) || image.username !== '' || image.password !== '') return undefined;
  return image.href.length <= maxImageLength ? image.href : undefined;
}
