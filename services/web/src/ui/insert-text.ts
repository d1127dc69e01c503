/** Replaces a part of a text box as if it was typed, so that it can be undone. */
export function insertText(box: HTMLTextAreaElement, text: string, start: number, end: number): void {
  const hasFocus = document.activeElement === box;
  if (hasFocus) box.setSelectionRange(start, end);
  // Deprecated, and the only way that keeps the history of the box.
  if (hasFocus && document.execCommand('insertText', false, text)) return;
  box.setRangeText(text, start, end, 'end');
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
}

/** Writes a word at the cursor of a text box, apart from the words around it, and leaves the cursor behind it. */
export function insertWord(box: HTMLTextAreaElement, word: string): void {
  const { selectionStart: start, selectionEnd: end, value } = box;
  box.focus();
  const before = start > 0 && !/\s/.test(value.charAt(start - 1)) ? ' ' : '';
  const after = /\s/.test(value.charAt(end)) ? '' : ' ';
  insertText(box, `${before}${word}${after}`, start, end);
}
