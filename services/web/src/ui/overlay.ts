import { useSyncExternalStore } from 'react';

/** A dialog over the page; at most one is open. */
export type Overlay =
  | { kind: 'emoji'; messageId: number }
  | { kind: 'delete'; messageId: number }
  | { kind: 'palette' }
  | { kind: 'shortcuts' };

let shown: Overlay | undefined;
const listeners = new Set<() => void>();

export function showOverlay(next: Overlay | undefined): void {
  shown = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useOverlay = (): Overlay | undefined => useSyncExternalStore(subscribe, () => shown);
