import { useEffect, useRef } from 'react';
import { unreadCounts } from './names.ts';
import { useSelected } from './session-context.tsx';

const pauseMs = 250;

/**
 * The title of the page in the browser: unread messages, the page, and the organisation. Browsers draw it outside of the
 * page, which takes long, so a count that changes with each of many messages is shown a few times a second.
 */
export function usePageTitle(title: string): void {
  const total = useSelected(({ model }) => unreadCounts(model).total);
  const realmName = useSelected(({ model }) => model.realmName);
  const latest = useRef('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  latest.current = `${total > 0 ? `(${total}) ` : ''}${title} – ${realmName}`;
  useEffect(() => {
    document.title = latest.current;
    return () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    };
  }, [title, realmName]);
  useEffect(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      document.title = latest.current;
    }, pauseMs);
  }, [total]);
}
