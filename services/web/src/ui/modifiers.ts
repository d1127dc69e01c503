interface Key {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  getModifierState: (name: 'AltGraph') => boolean;
}

/**
 * Whether a key is one of the browser or the system, because of a key held with it. On many keyboards, AltGr or the
 * Option key of a Mac writes signs such as "@"; Windows reports AltGr as Ctrl and Alt.
 */
export function isOfSystem(event: Key): boolean {
  const { key, ctrlKey, metaKey, altKey } = event;
  const isSign = /^[^\p{L}\p{N}]$/u.test(key);
  if (isSign && event.getModifierState('AltGraph')) return false;
  return ctrlKey || metaKey || (altKey && !isSign);
}
