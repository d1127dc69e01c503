import type { RenderContext } from './context.ts';
import { servedFrom } from './external-content.ts';
import { isAudioPath, isImagePath, type Media, mediaAt } from './media-url.ts';
import { type Element, element, htmlOf, type Node, raw, textOf } from './node.ts';

/**
 * Maximum media that a message makes its readers request. Images and audio players in the text come first. If the linked
 * addresses exceed the rest, none of them gets a preview.
 */
export const MAX_MEDIA = 24;

interface FoundLink {
  link: Element;
  href: string;
  /** The element that contains the link, and its parent. */
  parent: Element;
  grandparent: Element | undefined;
  isQuoted: boolean;
  depth: number;
}

export interface Links {
  hasLink: boolean;
  hasImage: boolean;
  /** Distinct hrefs in order of appearance, channel links excluded. */
  links: string[];
  /** Distinct hrefs of web pages of other sites that may be previewed, in order of appearance. */
  pages: string[];
}

/**
 * Finds the links, and adds linked images and videos: after the paragraph, or in its place if it contains only the
 * address of an image or video file; in a list item at its end; elsewhere at the end of the message. Quoted links get no
 * preview.
 */
export function addPreviews(root: Element, context: RenderContext): Links {
  const found: FoundLink[] = [];
  collect({ parent: root, grandparent: undefined, isQuoted: false, depth: 0 }, found);
  if (found.length === 0) return { hasLink: false, hasImage: false, links: [], pages: [] };
  const links = [...new Set(found.map(({ href }) => href))];
  // Outer links first: of several links to one address only the first gets a preview.
  const linked = found.filter(({ link, isQuoted }) => link.tag === 'a' && !isQuoted).sort((a, b) => a.depth - b.depth);
  const shown = new Set(linked.map(({ href }) => href));
  const inText = found.filter(({ link }) => link.tag !== 'a').length;
  const fits = inText + shown.size <= MAX_MEDIA;
  const pages = context.previewPages && fits ? pagesAmong(links, shown, context) : [];
  if (context.previewMedia !== false && fits) {
    const places = new Map<Element, Node>();
    for (const one of linked) if (shown.delete(one.href)) show(one, { root, context, places });
  }
  return { hasLink: links.length > 0, hasImage: links.some(isImagePath), links, pages };
}

const pagesAmong = (links: readonly string[], shown: ReadonlySet<string>, { realmUrl }: RenderContext): string[] =>
  links.filter((href) => {
    if (!shown.has(href) || !/^https?:/i.test(href) || mediaAt(href) !== undefined || isAudioPath(href)) return false;
    const origin = URL.parse(href)?.origin;
    return origin !== undefined && origin !== realmUrl;
  });

function collect(place: Omit<FoundLink, 'link' | 'href'>, found: FoundLink[]): void {
  const { parent, isQuoted, depth } = place;
  for (const child of parent.children) {
    if (child.kind !== 'element') continue;
    const { href: linked, src, 'data-original-src': original } = child.attributes;
    const href = child.tag === 'a' ? linked : (original ?? src);
    const isOther = child.tag === 'a' ? child.attributes.class !== undefined : child.attributes.class === 'emoji';
    if (href !== undefined && !isOther) found.push({ ...place, link: child, href });
    collect(
      { parent: child, grandparent: parent, isQuoted: isQuoted || child.tag === 'blockquote', depth: depth + 1 },
      found,
    );
  }
}

interface Target {
  root: Element;
  context: RenderContext;
  /** The last preview after each paragraph. */
  places: Map<Element, Node>;
}

function show(found: FoundLink, { root, context, places }: Target): void {
  const { link, href, parent, grandparent } = found;
  const media = mediaAt(href);
  const source = media && servedFrom(sourceOf(media, href), context);
  if (media === undefined || source === undefined) return;
  const shownText = textOf(link.children);
  const leadsTo = media.kind === 'youtube' ? href : (media.href ?? href);
  const isBare = media.kind !== 'youtube' && (shownText === href || leadsTo !== href);
  const preview = raw(
    htmlOf([previewOf(media, { source, href: leadsTo, title: isBare || shownText === href ? undefined : shownText })]),
  );
  if (parent.tag === 'li') {
    const [first, next] = parent.children;
    if (isBare && first === link && next?.kind !== 'text') parent.children.shift();
    parent.children.push(preview);
  } else if (parent.tag === 'p' && grandparent) {
    const place = places.get(parent) ?? parent;
    let at = grandparent.children.indexOf(place) + 1;
    if (place === parent && isNewline(grandparent.children[at])) at++;
    grandparent.children.splice(at, 0, preview);
    places.set(parent, preview);
    if (isBare && parent.children.length === 1) removeParagraph(grandparent, parent);
  } else root.children.push(preview);
}

const isNewline = (node: Node | undefined): boolean => node?.kind === 'text' && node.text === '\n';

function removeParagraph(grandparent: Element, paragraph: Element): void {
  const at = grandparent.children.indexOf(paragraph);
  grandparent.children.splice(at, isNewline(grandparent.children[at + 1]) ? 2 : 1);
}

function sourceOf(media: Media, href: string): string {
  if (media.kind === 'youtube') return `https://i.ytimg.com/vi/${media.id}/mqdefault.jpg`;
  return media.source ?? href;
}

function previewOf(media: Media, shown: { source: string; href: string; title: string | undefined }): Element {
  const { source: src, href, title } = shown;
  const titled = title === undefined ? {} : { title };
  switch (media.kind) {
    case 'image':
      return div('message_inline_image', { href, ...titled }, element('img', { src }));
    case 'video':
      return div(
        'message_inline_image message_inline_video',
        { href, ...titled },
        element('video', { preload: 'metadata', src }),
      );
    case 'youtube':
      return div('youtube-video message_inline_image', { 'data-id': media.id, href }, element('img', { src }));
  }
}

const div = (kind: string, attributes: Record<string, string>, shown: Element): Element =>
  element('div', { class: kind }, [element('a', attributes, [shown])]);
