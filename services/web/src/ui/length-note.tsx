import { t } from '../text/text.ts';

const nearLimit = 500;

/** The number of characters that may follow, if few are left, or by which the text is too long. */
export function LengthNote({ left }: { left: number }) {
  if (left >= nearLimit) return null;
  return (
    <p className={left < 0 ? 'alarm' : 'faint'}>
      {left < 0 ? t('tooLong', { count: -left }) : t('charactersLeft', { count: left })}
    </p>
  );
}
