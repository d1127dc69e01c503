import type { Place } from './use-ordered-list.ts';

/** Moves one thing of a list up or down. */
export function OrderButtons({ name, place: { isBusy, isFirst, isLast, onMove } }: { name: string; place: Place }) {
  return (
    <>
      <button type="button" className="plain" disabled={isBusy || isFirst} onClick={() => onMove(-1)}>
        Up<span className="hidden"> {name}</span>
      </button>
      <button type="button" className="plain" disabled={isBusy || isLast} onClick={() => onMove(1)}>
        Down<span className="hidden"> {name}</span>
      </button>
    </>
  );
}
