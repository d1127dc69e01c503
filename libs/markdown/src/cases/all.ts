import { addressCases } from './addresses.ts';
import { blockCases } from './blocks.ts';
import { codeCases } from './code.ts';
import { highlightCases } from './highlight.ts';
import { inlineCases } from './inline.ts';
import { linkCases } from './links.ts';
import { listCases } from './lists.ts';
import { peopleCases } from './people.ts';
import { previewCases } from './previews.ts';
import { quoteCases } from './quotes.ts';
import { textCases } from './text.ts';

/** Rendered in the context of `test-context.ts`. */
export const renderCases: Record<string, [string, string][]> = {
  text: textCases,
  blocks: blockCases,
  lists: listCases,
  quotes: quoteCases,
  code: codeCases,
  highlight: highlightCases,
  links: linkCases,
  addresses: addressCases,
  people: peopleCases,
  previews: previewCases,
  inline: inlineCases,
};
