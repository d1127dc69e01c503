import { type MouseEvent, type PointerEvent, useRef } from 'react';

/**
 * Attributes of an element that closes something when it is clicked itself. A click counts only if it also began there:
 * a selection of text that ends beside its field is no such click.
 */
export function useClickBeside(close: () => void) {
  const isPressed = useRef(false);
  return {
    onPointerDown: ({ target, currentTarget }: PointerEvent) => {
      isPressed.current = target === currentTarget;
    },
    onClick: ({ target, currentTarget }: MouseEvent) => {
      if (isPressed.current && target === currentTarget) close();
    },
  };
}
