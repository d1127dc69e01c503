/** Selector of elements whose text is no part of the message, or contains no words. */
const unmarked = 'math, time, button, .emoji';

/** Marks the alert words of the reader in a message. Only the text is divided: no HTML is made of it. */
export function markAlertWords(content: DocumentFragment, words: readonly string[]): void {
  if (words.length === 0) return;
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.parentElement?.closest(unmarked)) continue;
    // From the end, so that earlier places stay valid.
    for (const [from, to] of placesOf(text.data, words).toReversed()) {
      const word = text.splitText(from);
      word.splitText(to - from);
      const mark = document.createElement('mark');
      mark.className = 'alert-word';
      word.replaceWith(mark);
      mark.append(word);
    }
  }
}

/** The positions of words in a text, with no letter or digit beside them, as the server finds them. */
export function placesOf(text: string, words: readonly string[]): [from: number, to: number][] {
  const lower = lowered(text);
  const isLetter = (at: number): boolean => /[\p{L}\p{N}_]/u.test(lower[at] ?? ' ');
  const found = words.flatMap((word) => {
    const wanted = lowered(word);
    const places: [number, number][] = [];
    for (let at = lower.indexOf(wanted); at >= 0 && wanted !== ''; at = lower.indexOf(wanted, at + 1))
      if (!isLetter(at - 1) && !isLetter(at + wanted.length)) places.push([at, at + wanted.length]);
    return places;
  });
  // If found words overlap, the first one is marked; if they begin at the same place, the longest.
  const sorted = found.sort(([a, endA], [b, endB]) => a - b || endB - endA);
  let end = 0;
  return sorted.filter(([from, to]) => {
    if (from < end) return false;
    end = to;
    return true;
  });
}

/** The text in lower case with the same length: characters whose lower case has another length stay unchanged. */
const lowered = (text: string): string =>
  Array.from(text, (one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one)).join('');
