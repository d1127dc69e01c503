import type { MarkdownIt, StateCore, Token } from 'markdown-it';
import { runOf } from './context.ts';
import { isAudioPath, isImagePath } from './media-url.ts';

/**
 * `![title](url)`: an image or a sound in its place in the text. Of anything else, and where the realm shows no media, it is the
 * link that stands behind the exclamation mark.
 */
export function embeddedMedia(md: MarkdownIt): void {
  md.core.ruler.after('inline', 'embedded_media', (state) => {
    const isShown = runOf(state.env).context.previewMedia !== false;
    for (const block of state.tokens)
      block.children =
        block.children?.flatMap((token) =>
          token.type !== 'image' || (isShown && embeddedUrl(token) !== undefined) ? [token] : asLink(token, state),
        ) ?? null;
  });
  md.renderer.rules.image = (tokens, index) => {
    const token = tokens[index];
    const url = md.utils.escapeHtml((token && embeddedUrl(token)) ?? '');
    const title = md.utils.escapeHtml(token?.content ?? '');
    return isAudioPath(url)
      ? `<audio controls preload="metadata" src="${url}" title="${title}"></audio>`
      : `<img alt="${title}" class="inline-image" data-original-src="${url}" src="${url}">`;
  };
}

/** What an image token embeds. */
export function embeddedUrl(token: Token): string | undefined {
  const url = token.type === 'image' ? String(token.attrGet('src') ?? '') : '';
  return isImagePath(url) || isAudioPath(url) ? url : undefined;
}

function asLink(token: Token, state: StateCore): Token[] {
  const text = (content: string): Token => {
    const made = new state.Token('text', '', 0);
    made.content = content;
    return made;
  };
  const open = new state.Token('link_open', 'a', 1);
  open.attrSet('href', String(token.attrGet('src') ?? ''));
  const title = token.attrGet('title');
  if (title) open.attrSet('title', String(title));
  // Its title as it was written: it may hold links and images of its own, which a link may not.
  return [text('!'), open, text(token.content), new state.Token('link_close', 'a', -1)];
}
