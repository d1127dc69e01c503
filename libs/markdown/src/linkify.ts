import type { MarkdownIt, Token } from 'markdown-it';
import { type Rendered, runOf } from './context.ts';
import { embeddedUrl } from './embedded-media.ts';
import { isImagePath } from './media-url.ts';
import { previewedUrl } from './preview.ts';

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
const SAFE_SCHEMES = new Set(['http', 'https', 'mailto', 'tel', 'sms', 'xmpp']);
const OWN_PATH = /^(?:#|\/(?![/\\]))/;
const BARE_DOMAIN = /^(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}(?=[/?#:]|$)/u;
/** Top-level domains that are mostly meant as file names. */
const FILE_SUFFIX = /^[^/?#]*\.(?:java|md|mov|py|zip)$/i;

/** Which URLs may be linked, and how they are written. */
export function linkify(md: MarkdownIt): void {
  md.linkify.add('ftp:', null).add('//', null).set({ fuzzyLink: true, fuzzyEmail: true });
  md.validateLink = isSafeUrl;
  const normalize = md.normalizeLink.bind(md);
  md.normalizeLink = (url) => normalize(!SCHEME.test(url) && BARE_DOMAIN.test(url) ? `http://${url}` : url);
  md.normalizeLinkText = (text) => text;
  md.core.ruler.after('linkify', 'own_links', (state) => {
    const { realmUrl } = runOf(state.env).context;
    for (const block of state.tokens) {
      if (block.children === null) continue;
      block.children = withoutEmptyLinks(withoutFileNames(block.children));
      for (const token of block.children) if (token.type === 'link_open') makeRelative(token, realmUrl);
    }
  });
}

export function isSafeUrl(url: string): boolean {
  const scheme = SCHEME.exec(url.trim())?.[1];
  return scheme === undefined ? OWN_PATH.test(url) : SAFE_SCHEMES.has(scheme.toLowerCase());
}

export function collectLinks(tokens: Token[]): Pick<Rendered, 'hasLink' | 'hasImage' | 'links'> {
  const hrefs = tokens.flatMap((block) => {
    const inline = (block.children ?? []).map((token) =>
      token.type === 'link_open' ? String(token.attrGet('href') ?? '') : embeddedUrl(token),
    );
    return [previewedUrl(block), ...inline];
  });
  const links = [...new Set(hrefs.filter((href) => href !== undefined))];
  return { hasLink: links.length > 0, hasImage: links.some(isImagePath), links };
}

function makeRelative(token: Token, realmUrl: string): void {
  const href = token.attrGet('href');
  if (realmUrl !== '' && typeof href === 'string' && href.startsWith(`${realmUrl}/#narrow/`)) {
    token.attrSet('href', href.slice(realmUrl.length + 1));
  }
}

/** A link to nowhere stays as it was typed. */
function withoutEmptyLinks(tokens: Token[]): Token[] {
  let isOpen = false;
  for (const token of tokens) {
    const opens = token.type === 'link_open' && token.attrGet('href') === '';
    const closes = token.type === 'link_close' && isOpen;
    if (!opens && !closes) continue;
    isOpen = opens;
    Object.assign(token, { type: 'text', tag: '', attrs: null, nesting: 0, content: opens ? '[' : ']()' });
  }
  return tokens;
}

function withoutFileNames(tokens: Token[]): Token[] {
  const kept: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const [token, text] = [tokens[i], tokens[i + 1]];
    if (token === undefined) continue;
    if (
      token.markup === 'linkify' &&
      token.type === 'link_open' &&
      text?.type === 'text' &&
      FILE_SUFFIX.test(text.content)
    ) {
      const last = kept.at(-1);
      const next = tokens[i + 3];
      text.content = `${last?.type === 'text' ? last.content : ''}${text.content}`;
      if (last?.type === 'text') kept.pop();
      if (next?.type === 'text') next.content = text.content + next.content;
      else kept.push(text);
      i += 2;
    } else kept.push(token);
  }
  return kept;
}
