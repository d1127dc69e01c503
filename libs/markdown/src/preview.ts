import type { MarkdownIt, Token } from 'markdown-it';
import { type RenderRun, runOf } from './context.ts';
import { type Media, mediaAt } from './media-url.ts';
import { onOwnLine } from './own-line.ts';

type Preview = {
  href: string;
  /** The link's text where it says more than the URL. */
  title: string;
  media: Media;
};

/** Shows linked images and videos below the paragraph, or instead of it when the bare URL is all it holds. */
export function preview(md: MarkdownIt): void {
  md.core.ruler.push('preview', (state) => {
    const run = runOf(state.env);
    if (run.context.previewMedia === false) return;
    state.tokens = withPreviews(state.tokens, run, (found) => {
      const token = new state.Token('preview', '', 0);
      token.block = true;
      token.meta = found;
      return token;
    });
  });
  md.renderer.rules.preview = (tokens, index) => onOwnLine(tokens, index, html(tokens[index]?.meta as Preview, md));
}

/** The URL a preview token shows; its own paragraph may be gone. */
export function previewedUrl(token: Token): string | undefined {
  return token.type === 'preview' ? (token.meta as Preview).href : undefined;
}

function withPreviews(tokens: Token[], run: RenderRun, makeToken: (found: Preview) => Token): Token[] {
  const result: Token[] = [];
  let quoteDepth = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === undefined) continue;
    if (token.type === 'blockquote_open') quoteDepth++;
    if (token.type === 'blockquote_close') quoteDepth--;
    const inline = tokens[i + 1];
    const close = tokens[i + 2];
    if (token.type !== 'paragraph_open' || quoteDepth > 0 || inline === undefined || close === undefined) {
      result.push(token);
      continue;
    }
    const found = previewsOf(inline.children ?? []).slice(0, run.previewsLeft);
    run.previewsLeft -= found.length;
    // In a list an item keeps its text.
    if (found.length === 0 || token.hidden || !isBareUrl(inline.children ?? [])) result.push(token, inline, close);
    result.push(...found.map(makeToken));
    i += 2;
  }
  return result;
}

function previewsOf(tokens: Token[]): Preview[] {
  return tokens.flatMap((token, i) => {
    const href = token.type === 'link_open' ? String(token.attrGet('href') ?? '') : '';
    const media = href === '' ? undefined : mediaAt(href);
    if (media === undefined) return [];
    const text = tokens[i + 1];
    const title = token.markup === '' && text?.type === 'text' && text.content !== href ? text.content : '';
    return [{ href, title, media }];
  });
}

function isBareUrl(tokens: Token[]): boolean {
  return tokens.length === 3 && tokens[0]?.type === 'link_open' && tokens[0].markup === 'linkify';
}

function html({ href, title, media }: Preview, md: MarkdownIt): string {
  const url = md.utils.escapeHtml(href);
  const titleAttribute = title === '' ? '' : ` title="${md.utils.escapeHtml(title)}"`;
  switch (media.kind) {
    case 'image':
      return `<div class="message_inline_image"><a href="${url}"${titleAttribute}><img src="${url}"></a></div>\n`;
    case 'video':
      return `<div class="message_inline_image message_inline_video"><a href="${url}"${titleAttribute}><video preload="metadata" src="${url}"></video></a></div>\n`;
    case 'youtube':
      return `<div class="youtube-video message_inline_image"><a data-id="${media.id}" href="${url}"${titleAttribute}><img src="https://i.ytimg.com/vi/${media.id}/mqdefault.jpg"></a></div>\n`;
  }
}
