import { t } from '../text/text.ts';
import { openDialog } from './open-dialog.ts';
import { isOwnPicture } from './own-picture.ts';

/** A link around a picture of a message that opens the viewer. */
const selector = 'a.picture';

/**
 * Makes the pictures of a message links that open the viewer: linked pictures, except of videos, and pictures in the text,
 * to which the server gives no link.
 */
export function markPictures(content: ParentNode): void {
  for (const image of content.querySelectorAll<HTMLImageElement>('img.inline-image, .message_inline_image img')) {
    if (!image.hasAttribute('src') || image.closest('.youtube-video, .message_inline_video')) continue;
    const link = image.closest('a') ?? linkAround(image);
    link.classList.add('picture');
    link.setAttribute('aria-haspopup', 'dialog');
    if (image.alt === '' || image.alt === link.getAttribute('href')) image.alt = link.title || fileName(link);
  }
}

function linkAround(image: HTMLImageElement): HTMLAnchorElement {
  const link = document.createElement('a');
  const original = image.dataset.originalSrc ?? '';
  link.href = isOwnPicture(original) ? original : (image.getAttribute('src') ?? '');
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  image.replaceWith(link);
  link.append(image);
  return link;
}

function fileName(link: HTMLAnchorElement): string {
  const name = link.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name) || t('picture');
  } catch {
    return name;
  }
}

export interface Picture {
  nth: number;
  /** The address that the page shows. */
  src: string;
  /** The address of the file, which may be of another server. */
  href: string;
  name: string;
  /** Whether its reader has to open a spoiler to see it. */
  isHidden: boolean;
}

/** The pictures in the elements of a message. */
export const picturesIn = (content: ParentNode): Picture[] =>
  [...content.querySelectorAll<HTMLAnchorElement>(selector)].flatMap((link, nth) => {
    const image = link.querySelector('img');
    const address = link.getAttribute('href') ?? '';
    // Nothing is requested from other servers.
    const shown = isOwnPicture(address) ? address : image?.getAttribute('src');
    if (!image || !shown) return [];
    return [{ nth, src: shown, href: link.href, name: image.alt, isHidden: link.closest('details') !== null }];
  });

/** Opens the viewer if a link of a message is that of a picture. Returns whether it is. */
export function openPicture(link: Element): boolean {
  const messageId = Number(link.closest<HTMLElement>('[data-message]')?.dataset.message);
  const content = link.closest('.content');
  if (!link.matches(selector) || !content || !Number.isSafeInteger(messageId)) return false;
  openDialog({ name: 'picture', messageId, nth: [...content.querySelectorAll(selector)].indexOf(link) });
  return true;
}
