import { numberText, t } from '../text/text.ts';

/** Shows a short label; screen readers read the whole phrase. */
export function Phrase({ short, full }: { short: string; full: string }) {
  return (
    <>
      <span aria-hidden="true">{short}</span>
      <span className="hidden">{full}</span>
    </>
  );
}

export function UnreadCount({ of }: { of: number }) {
  return (
    <span className="count">
      <Phrase short={numberText(of)} full={t('unread', { count: of })} />
    </span>
  );
}
