import MarkdownIt, { type MarkdownIt as Parser } from 'markdown-it';
import { channelLink } from './channel-link.ts';
import { codeBlock } from './code-block.ts';
import { depthLimit } from './depth-limit.ts';
import { embeddedMedia } from './embedded-media.ts';
import { emoji } from './emoji.ts';
import { emphasis } from './emphasis.ts';
import { fence } from './fence.ts';
import { inlineInQuotes } from './inline-in-quotes.ts';
import { linkify } from './linkify.ts';
import { list } from './list.ts';
import { math } from './math.ts';
import { mention } from './mention.ts';
import { preview } from './preview.ts';
import { spoiler } from './spoiler.ts';
import { countSteps } from './steps.ts';
import { table } from './table.ts';
import { textPieces } from './text-pieces.ts';
import { timestamp } from './timestamp.ts';

/** One parser for all renderings: everything that varies travels in the env. */
export const parser: Parser = new MarkdownIt({ html: false, breaks: true, linkify: true, maxNesting: 100 })
  .disable(['reference', 'lheading', 'html_block', 'html_inline'])
  .use(inlineInQuotes)
  .use(fence)
  .use(codeBlock)
  .use(spoiler)
  .use(math)
  .use(list)
  .use(table)
  .use(depthLimit)
  .use(emphasis)
  .use(mention)
  .use(channelLink)
  .use(timestamp)
  .use(emoji)
  .use(embeddedMedia)
  .use(linkify)
  .use(textPieces)
  .use(preview)
  .use(countSteps);
