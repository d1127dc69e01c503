import { insertText } from './insert-text.ts';

/** Text for the compose box of a conversation that is about to open. */
let pending: { key: string; text: string } | undefined;

/** Adds text to the compose box on screen, as if the writer typed it. */
function insert(text: string): boolean {
  const box = document.querySelector<HTMLTextAreaElement>('textarea#compose');
  if (!box) return false;
  box.focus();
  if (text === '') return true;
  const before = box.value === '' || box.value.endsWith('\n') ? '' : '\n';
  insertText(box, before + text, box.value.length, box.value.length);
  return true;
}

/** Adds text to the compose box of a conversation, now or as soon as it is on screen. */
export function composeIn(key: string, text: string, isShown: boolean): void {
  pending = isShown && insert(text) ? undefined : { key, text };
}

/** Called when the compose box of a conversation is on screen. */
export function composeIsShown(key: string): void {
  if (pending?.key === key && insert(pending.text)) pending = undefined;
}

export function focusCompose(): boolean {
  const box = document.querySelector<HTMLTextAreaElement>('textarea#compose');
  box?.focus();
  return box !== null;
}

/** The conversation whose compose box does not take the focus when it appears. */
let unfocused: string | undefined;
export function keepFocusFrom(key: string): void {
  unfocused = key;
}

/** Whether the compose box of a conversation takes the focus when it appears. */
export function composeTakesFocus(key: string): boolean {
  const takes = unfocused !== key;
  unfocused = undefined;
  return takes;
}
