import { envOf, type RenderContext, type Rendered, type RenderRun } from './context.ts';
import { collectLinks } from './linkify.ts';
import { lookupsOf } from './lookups.ts';
import { collectMentions } from './mention.ts';
import { parser } from './parser.ts';

const MAX_FORMULAS = 100;
const MAX_PREVIEWS = 24;
const MAX_LINKIFIER_MATCHES = 500;

export const emptyContext: RenderContext = {
  realmUrl: '',
  users: [],
  groups: [],
  channels: [],
  linkifiers: [],
  emoji: [],
  translateEmoticons: false,
  defaultCodeLanguage: '',
};

/**
 * Pure. Throws `StepLimit` where the parser would take more than `maxSteps`. Without a limit the cost is unbounded: only where a time
 * limit ends it.
 */
export function render(content: string, context: RenderContext, maxSteps = Number.POSITIVE_INFINITY): Rendered {
  const run: RenderRun = {
    context,
    find: lookupsOf(context),
    quoteDepth: 0,
    formulasLeft: MAX_FORMULAS,
    previewsLeft: MAX_PREVIEWS,
    matchesLeft: MAX_LINKIFIER_MATCHES,
    stepsLeft: maxSteps,
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

/** The text as it was typed: what readers see of content that exceeds a limit. It mentions and links nothing. */
export function renderPlain(content: string): Rendered {
  const text = parser.utils.escapeHtml(content).replaceAll('\n', '<br>\n');
  return {
    html: `<p>${text}</p>`,
    mentions: { userIds: [], groupIds: [], channelWildcard: false, topicWildcard: false, silentUserIds: [] },
    isMeMessage: content.startsWith('/me '),
    hasLink: false,
    hasImage: false,
    links: [],
  };
}
