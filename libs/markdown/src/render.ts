import { block } from './block.ts';
import { BlockParser } from './block-parser.ts';
import { fencedHtml } from './code-html.ts';
import type { RenderContext, Rendered, RenderRun } from './context.ts';
import { withoutFences } from './fence.ts';
import { Inline } from './inline.ts';
import { lookupsOf } from './lookups.ts';
import { mathBlock } from './math.ts';
import { escapeHtml, htmlOf, raw } from './node.ts';
import { linesOf, normalized, separateLists } from './preprocess.ts';
import { addPreviews, MAX_MEDIA } from './preview.ts';
import { blockRules, inlineRules } from './rules.ts';
import { spend } from './steps.ts';
import { treeOf } from './tree.ts';

const MAX_FORMULAS = 100;
const MAX_LINKIFIER_MATCHES = 500;

export const emptyContext: RenderContext = {
  realmUrl: '',
  users: [],
  groups: [],
  channels: [],
  topics: [],
  linkifiers: [],
  emoji: [],
  translateEmoticons: false,
  defaultCodeLanguage: '',
};

/**
 * Pure. Throws `StepLimit` if the parser would take more than `maxSteps`. Without a limit the cost is unbounded: call
 * it only where a time limit terminates it.
 */
export function render(content: string, context: RenderContext, maxSteps = Number.POSITIVE_INFINITY): Rendered {
  const run = newRun(context, maxSteps);
  const inline = new Inline(run, inlineRules);
  const root = block('div');
  spend(run, content.length);
  if (content.trim() !== '') new BlockParser(run, blockRules).parseText(root, withoutFencedBlocks(content, inline));
  const tree = treeOf(root, inline);
  const links = addPreviews(tree, context);
  const html = htmlOf(tree.children).trim();
  const { userIds, groupIds, silentUserIds, ...wildcards } = run.mentions;
  return {
    html,
    mentions: { ...wildcards, userIds: [...userIds], groupIds: [...groupIds], silentUserIds: [...silentUserIds] },
    isMeMessage: content.startsWith('/me '),
    ...links,
  };
}

/** The text as typed, shown for content that exceeds a limit. It mentions and links nothing. */
export function renderPlain(content: string): Rendered {
  return {
    html: `<p>${escapeHtml(content).replaceAll('\n', '<br>\n')}</p>`,
    mentions: { userIds: [], groupIds: [], channelWildcard: false, topicWildcard: false, silentUserIds: [] },
    isMeMessage: content.startsWith('/me '),
    hasLink: false,
    hasImage: false,
    links: [],
    pages: [],
  };
}

function newRun(context: RenderContext, maxSteps: number): RenderRun {
  return {
    context,
    find: lookupsOf(context),
    mentions: {
      userIds: new Set(),
      groupIds: new Set(),
      channelWildcard: false,
      topicWildcard: false,
      silentUserIds: new Set(),
    },
    formulasLeft: MAX_FORMULAS,
    matchesLeft: MAX_LINKIFIER_MATCHES,
    mediaLeft: MAX_MEDIA,
    stepsLeft: maxSteps,
  };
}

/** The text without fenced blocks, which are replaced by marks. */
function withoutFencedBlocks(content: string, inline: Inline): string {
  const { run } = inline;
  const lines = separateLists(linesOf(content)).map(normalized);
  return withoutFences(lines, run.context.defaultCodeLanguage, {
    code: (text, language) => inline.markBlock(fencedHtml(text, language)),
    math: (text) => inline.mark([raw(mathBlock(text, run))], ''),
    raw: (html) => inline.markBlock(html, true),
  }).join('\n');
}
