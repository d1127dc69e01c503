import { Tokenizer } from 'htmlparser2';

const properties = new Set(['og:title', 'og:description', 'og:image', 'description']);
const ignore = (): void => undefined;

/**
 * The first value of each property of `meta` elements that describes the page, and its `title`. One pass of a tokenizer
 * without a stack, so the time is linear in the text, whatever it nests.
 */
export function factsOf(html: string): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  /** The attributes of the `meta` element that is being read; undefined in other elements. */
  let attributes: Map<string, string> | undefined;
  let name = '';
  let value = '';
  let isInTitle = false;
  const tagEnds = (): void => {
    const property = attributes?.get('property') ?? attributes?.get('name');
    const content = attributes?.get('content');
    attributes = undefined;
    if (property === undefined || content === undefined || content.trim() === '') return;
    const key = property.trim().toLowerCase();
    if (properties.has(key) && !facts.has(key)) facts.set(key, content);
  };
  const addTitle = (text: string): void => {
    if (isInTitle) facts.set('title', (facts.get('title') ?? '') + text);
  };
  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname: (start, end) => {
        const tag = html.slice(start, end).toLowerCase();
        attributes = tag === 'meta' ? new Map() : undefined;
        isInTitle = tag === 'title' && !facts.has('title');
      },
      onattribname: (start, end) => {
        name = html.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata: (start, end) => {
        if (attributes) value += html.slice(start, end);
      },
      onattribentity: (codepoint) => {
        if (attributes) value += String.fromCodePoint(codepoint);
      },
      onattribend: () => {
        if (attributes && !attributes.has(name)) attributes.set(name, value);
      },
      onopentagend: tagEnds,
      onselfclosingtag: tagEnds,
      onclosetag: () => {
        isInTitle = false;
      },
      ontext: (start, end) => addTitle(html.slice(start, end)),
      ontextentity: (codepoint) => addTitle(String.fromCodePoint(codepoint)),
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return facts;
}
