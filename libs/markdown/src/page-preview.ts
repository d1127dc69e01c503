import { servedFrom } from './external-content.ts';
import { escapeHtml } from './node.ts';

/** Title, description and image of a web page of another site. All of them are untrusted. */
export interface PagePreview {
  title: string | undefined;
  description: string | undefined;
  /** The address of an image, HTTP or HTTPS. */
  image: string;
}

/**
 * The HTML of the preview of a page that a message links with `href`, which is one of `Rendered.pages`. The image is shown
 * from this server, at an address signed with the key. Empty if readers cannot get the image: mobile clients show a preview
 * without an image as source.
 */
export function pagePreviewHtml(href: string, page: PagePreview, externalContentKey: string): string {
  const image = servedFrom(page.image, { realmUrl: '', externalContentKey });
  if (image === undefined) return '';
  const link = escapeHtml(href);
  // The signed path has no characters that end a string of CSS.
  const shown = `<a class="message_embed_image" href="${link}" style="background-image: url(&quot;${escapeHtml(image)}&quot;)"></a>`;
  const title = page.title && escapeHtml(page.title);
  const titled = title ? `<div class="message_embed_title"><a href="${link}" title="${title}">${title}</a></div>` : '';
  const described = page.description
    ? `<div class="message_embed_description">${escapeHtml(page.description)}</div>`
    : '';
  return `\n<div class="message_embed">${shown}<div class="data-container">${titled}${described}</div></div>`;
}
