import { t } from '../text/text.ts';
import { Phrase } from './phrase.tsx';
import type { Place } from './use-ordered-list.ts';

/** Moves one thing of a list up or down. */
export function OrderButtons({ name, place: { isBusy, isFirst, isLast, onMove } }: { name: string; place: Place }) {
  return (
    <>
      <button type="button" className="plain" disabled={isBusy || isFirst} onClick={() => onMove(-1)}>
        <Phrase short={t('up')} full={t('upName', { name })} />
      </button>
      <button type="button" className="plain" disabled={isBusy || isLast} onClick={() => onMove(1)}>
        <Phrase short={t('down')} full={t('downName', { name })} />
      </button>
    </>
  );
}
