import { diffArrays } from 'diff';

/** With more changes than this the whole content is replaced. Limits the time for any input. */
const maxEdits = 600;
/** Total time for the diffs of one answer; after that whole contents are replaced. */
const maxMs = 300;
const token = /<[^>]*>|&[a-z0-9#]+;|[\p{L}\p{N}_]+|\s+|[^<&\p{L}\p{N}_\s]|[<&]/giu;

/**
 * The difference between two HTML texts, as HTML: inserted and deleted text is wrapped in spans with the classes that
 * clients expect. Tags are those of the new text. A changed address of a link is shown behind the text of the link.
 */
export function htmlDiff(before: string, after: string, maxEditLength = maxEdits): string {
  const [old, new_] = [tokensOf(before), tokensOf(after)];
  const changes = diffArrays(old, new_, { maxEditLength });
  if (changes === undefined) return replaced(old, new_);
  let result = '';
  let deleted: string[] = [];
  for (const { added, removed, value } of changes) {
    if (removed) deleted = value;
    else {
      result += added ? replaced(deleted, value) : marked(deleted, 'deleted') + shown(value);
      deleted = [];
    }
  }
  return result + marked(deleted, 'deleted');
}

/** Inserted text, and after it what it replaces. */
function replaced(old: readonly string[], new_: readonly string[]): string {
  const [inserted, deleted] = [marked(new_, 'inserted'), marked(old, 'deleted')];
  return inserted === '' || deleted === '' ? inserted + deleted : `${inserted} ${deleted}`;
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

/** Before the address of a link, which is compared like text. HTML of messages contains no NUL. */
const linkMark = '\0';

function tokensOf(html: string): string[] {
  let href: string | undefined;
  return (html.match(token) ?? []).flatMap((part) => {
    href = /^<a\s(?:[^>]*\s)?href="([^"]*)"/.exec(part)?.[1] ?? href;
    if (part !== '</a>' || href === undefined) return [part];
    const link = linkMark + href;
    href = undefined;
    return [link, part];
  });
}

/** Unchanged parts. The addresses of links are shown only where they change. */
const shown = (tokens: readonly string[]): string => tokens.filter((part) => !part.startsWith(linkMark)).join('');

/** Wraps runs of text; inserted tags are kept, deleted tags are omitted. */
function marked(tokens: readonly string[], how: 'inserted' | 'deleted'): string {
  let result = '';
  let run = '';
  const close = (): void => {
    if (run !== '') result += `<span class="highlight_text_${how}">${run}</span>`;
    run = '';
  };
  for (const part of tokens) {
    if (part.startsWith(linkMark)) run += ` Link: ${part.slice(linkMark.length)} .`;
    else if (!part.startsWith('<') || part === '<') run += part;
    else {
      close();
      if (how === 'inserted') result += part;
    }
  }
  close();
  return result;
}
