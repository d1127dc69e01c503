import { useEffect } from 'react';
import { countUnread } from './names.ts';
import { useSelected } from './session-context.tsx';

/** The title of the page in the browser: unread messages, what it shows, and the organisation. */
export function usePageTitle(title: string): void {
  const total = useSelected(({ model }) => countUnread(model, () => true));
  const realmName = useSelected(({ model }) => model.realmName);
  useEffect(() => {
    document.title = `${total > 0 ? `(${total}) ` : ''}${title} – ${realmName}`;
  }, [title, total, realmName]);
}
