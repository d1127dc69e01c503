import { autoLink } from './auto-link.ts';
import type { BlockRules } from './block-parser.ts';
import { code, empty, heading, paragraph, quote, rule } from './block-rules.ts';
import { channelLink } from './channel-link.ts';
import { codeSpan } from './code-span.ts';
import { emoji, unicodeEmojiRule } from './emoji.ts';
import { emoticons } from './emoticon.ts';
import { deleted, emphasis, strong, strongEmphasis } from './emphasis.ts';
import { entity } from './entity.ts';
import type { InlineRule } from './inline.ts';
import { link } from './link.ts';
import { linkifiers } from './linkifier-rule.ts';
import { indentedInList, orderedList, unorderedList } from './list.ts';
import { math } from './math.ts';
import { groupMention, userMention } from './mention.ts';
import { element, text } from './node.ts';
import { table } from './table.ts';
import { timestamp } from './timestamp.ts';

/** In order of precedence: later rules do not see what an earlier one replaced. */
export const inlineRules: readonly InlineRule[] = [
  codeSpan,
  strongEmphasis,
  userMention,
  math,
  channelLink,
  timestamp,
  groupMention,
  link,
  autoLink,
  linkifiers,
  entity,
  strong,
  emphasis,
  deleted,
  emoji,
  emoticons,
  (content, inline) =>
    content.includes('\n') ? content.replaceAll('\n', inline.mark([element('br', {}), text('\n')], '\n')) : content,
  unicodeEmojiRule,
];

export const blockRules: BlockRules = {
  all: [empty, indentedInList, code, heading, table, rule, orderedList, unorderedList, quote, paragraph],
  deepest: [empty, paragraph],
};
