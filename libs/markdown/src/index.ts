/**
 * Message text to HTML (semantics.md §18). Pure: no I/O, the same input and context give the same output.
 *
 * Guarantees: no source HTML passes through; every href is http, https, mailto, tel, sms, xmpp or a path of this
 * server; the time is bounded for a message of the permitted 10,000 characters. It does not throw on any content.
 * The caller decides what the sender may see and mention, by what the context's lookups answer.
 */
import { envOf, type RenderContext, type Rendered, type RenderRun } from './context.ts';
import { linkifierBudget } from './linkifier.ts';
import { collectLinks } from './linkify.ts';
import { collectMentions } from './mention.ts';
import { parser } from './parser.ts';
import { unicodeEmoji } from './unicode-emoji.ts';

export type { RenderContext, Rendered } from './context.ts';
export { hasEmoticons } from './emoticon.ts';
export { isLinkifierPattern } from './linkifier.ts';
export { topicLinks } from './topic-links.ts';
export { emojiNames, unicodeEmoji } from './unicode-emoji.ts';

/** The one emoji that is neither in Unicode nor the realm's own: the server's mark. */
const extraEmoji = { name: 'zulip', url: '/static/natter-icon.svg' };
const MAX_FORMULAS = 100;
const MAX_PREVIEWS = 24;

export const emptyContext: RenderContext = {
  realmUrl: '',
  users: () => undefined,
  groups: () => undefined,
  channels: () => undefined,
  linkifiers: [],
  emoji: (name) => {
    const code = unicodeEmoji(name);
    if (code !== undefined) return { kind: 'unicode', code };
    return name === extraEmoji.name ? { kind: 'realm', id: name, url: extraEmoji.url } : undefined;
  },
  translateEmoticons: false,
  defaultCodeLanguage: '',
};

export function render(content: string, context: RenderContext): Rendered {
  const run: RenderRun = {
    context,
    quoteDepth: 0,
    formulasLeft: MAX_FORMULAS,
    previewsLeft: MAX_PREVIEWS,
    linkifierBudget: linkifierBudget(),
  };
  const env = envOf(run);
  const tokens = parser.parse(content, env);
  const html = parser.renderer.render(tokens, parser.options, env).trimEnd();
  const onlyParagraph = tokens.at(0)?.type === 'paragraph_open' && tokens.at(-1)?.type === 'paragraph_close';
  return {
    html,
    mentions: collectMentions(tokens),
    isMeMessage: content.startsWith('/me ') && onlyParagraph,
    ...collectLinks(tokens),
  };
}
