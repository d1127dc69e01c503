import type { Inline } from './inline.ts';
import { raw } from './node.ts';

const ENTITY = /&(?:#[0-9]+|#x[0-9a-fA-F]+|[0-9a-zA-Z]+);/g;

/** Character references are rendered as their character. */
export const entity = (content: string, inline: Inline): string =>
  content.includes('&') ? content.replace(ENTITY, (whole) => inline.mark([raw(whole)], whole)) : content;
