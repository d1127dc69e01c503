import { useEffect } from 'react';
import { unreadCounts } from './names.ts';
import { useSelected } from './session-context.tsx';

/** The highest count that an icon names; the build makes an icon of each. */
const most = 9;

/** The icon of the page in the browser names the unread messages. */
export function useUnreadIcon(): void {
  const count = useSelected(({ model }) => Math.min(most + 1, unreadCounts(model).total));
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon) icon.href = count === 0 ? '/assets/icon.svg' : `/assets/unread-${count > most ? 'more' : count}.svg`;
  }, [count]);
}
