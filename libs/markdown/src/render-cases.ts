import { blockCases } from './render-cases-blocks.ts';
import { inlineCases } from './render-cases-inline.ts';
import { linkCases } from './render-cases-links.ts';
import { textCases } from './render-cases-text.ts';

/** Rendered in the context of render.test.ts. */
export const renderCases: Record<string, [string, string][]> = {
  text: textCases,
  blocks: blockCases,
  links: linkCases,
  inline: inlineCases,
};
