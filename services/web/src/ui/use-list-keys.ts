import { type KeyboardEvent, useState } from 'react';
import type { Suggestion } from '../state/completion.ts';
import { isOfInputMethod } from './composing.ts';

/** The keys of an input with a list below: it opens while one types, or with an arrow key. */
export function useListKeys(all: readonly Suggestion[], onChoose: (chosen: Suggestion) => void) {
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const shown = isOpen ? all : [];
  const chosen = Math.min(active, Math.max(0, shown.length - 1));
  const choose = (one: Suggestion): void => {
    setOpen(false);
    setActive(0);
    onChoose(one);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isOfInputMethod(event.nativeEvent)) return;
    const one = shown[chosen];
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      if (shown.length > 0) setActive((chosen + step + shown.length) % shown.length);
      setOpen(true);
    } else if (event.key === 'Escape' && shown.length > 0) setOpen(false);
    else if (event.key === 'Enter' && one) choose(one);
    else return;
    // Escape would close the dialog around.
    event.stopPropagation();
    event.preventDefault();
  };
  const open = (): void => {
    setOpen(true);
    setActive(0);
  };
  return { all: shown, active: chosen, choose, open, onKeyDown };
}
