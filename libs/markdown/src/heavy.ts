import type { HLJSApi } from 'highlight.js';
import type katex from 'katex';

/**
 * Libraries whose cost is not bounded by the length of their input, and which take a tenth of a second to load. Only
 * threads that can be terminated load them (`load-heavy.ts`); elsewhere code is not highlighted and formulas stay
 * source text. `usedMs`: CPU milliseconds of the thread so far.
 */
export const heavy: { grammars?: HLJSApi; typesetter?: typeof katex; usedMs: () => number } = { usedMs: () => 0 };
