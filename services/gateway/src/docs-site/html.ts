const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

/** Text with code between backquotes. */
export const marked = (text: string): string => escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>');

/** The name of a page or an anchor. */
export const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** Wide code can be scrolled by keyboard. */
export const codeBlock = (code: string): string => `<pre tabindex="0"><code>${escaped(code)}</code></pre>`;
