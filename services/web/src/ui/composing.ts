/** WebKit gives this code to keys of an input method, also to the one that ends the composition. */
const inputMethodKeyCode = 229;

/**
 * Whether a key belongs to an input method, which composes for example Japanese. WebKit ends the composition before it
 * reports the key that confirms it: `isComposing` is false by then.
 */
export const isOfInputMethod = ({ isComposing, keyCode }: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean =>
  isComposing || keyCode === inputMethodKeyCode;

type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'isComposing' | 'keyCode'>;

/** Whether a key sends a text: Ctrl+Enter, and Enter if `enterSends` returns true. It is called for Enter only. */
export const isSendKey = (event: Key, enterSends: () => boolean): boolean =>
  event.key === 'Enter' &&
  !isOfInputMethod(event) &&
  (event.ctrlKey || event.metaKey || (!event.shiftKey && enterSends()));
