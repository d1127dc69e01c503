import { t } from '../text/text.ts';

const nearLimit = 500;

/** How many characters may follow, where these are few, or how many are too many. */
export function LengthNote({ left }: { left: number }) {
  if (left >= nearLimit) return null;
  return (
    <p className={left < 0 ? 'alarm' : 'faint'}>
      {left < 0 ? t('tooLong', { count: -left }) : t('charactersLeft', { count: left })}
    </p>
  );
}
