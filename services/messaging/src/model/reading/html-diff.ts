import { diffArrays } from 'diff';

/** With more changes than this the whole content is replaced. Limits the time for any input. */
const maxEdits = 600;
/** Total time for the diffs of one answer; after that whole contents are replaced. */
const maxMs = 300;
const token = /<[^>]*>|&[a-z0-9#]+;|[\p{L}\p{N}_]+|\s+|[^<&\p{L}\p{N}_\s]|[<&]/giu;

/**
 * The difference between two HTML texts, as HTML: inserted and deleted text is wrapped in spans with the classes that
 * clients expect. Tags are those of the new text.
 */
export function htmlDiff(before: string, after: string, maxEditLength = maxEdits): string {
  const [old, new_] = [tokensOf(before), tokensOf(after)];
  const changes = diffArrays(old, new_, { maxEditLength });
  if (changes === undefined) return `${marked(old, 'deleted')}${marked(new_, 'inserted')}`;
  return changes
    .map(({ added, removed, value }) => {
      if (added) return marked(value, 'inserted');
      return removed ? marked(value, 'deleted') : value.join('');
    })
    .join('');
}

/** `htmlDiff` for the diffs of one answer. */
export function createHtmlDiff(): (before: string, after: string) => string {
  let spentMs = 0;
  return (before, after) => {
    const begunAt = performance.now();
    const difference = htmlDiff(before, after, spentMs < maxMs ? maxEdits : 0);
    spentMs += performance.now() - begunAt;
    return difference;
  };
}

const tokensOf = (html: string): string[] => html.match(token) ?? [];

/** Wraps runs of text; inserted tags are kept, deleted tags are omitted. */
function marked(tokens: readonly string[], how: 'inserted' | 'deleted'): string {
  let result = '';
  let run = '';
  const close = (): void => {
    if (run !== '') result += `<span class="highlight_text_${how}">${run}</span>`;
    run = '';
  };
  for (const part of tokens) {
    if (!part.startsWith('<') || part === '<') run += part;
    else {
      close();
      if (how === 'inserted') result += part;
    }
  }
  close();
  return result;
}
