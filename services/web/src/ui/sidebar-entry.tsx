import { useRouterState } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { keyOf } from '../state/place.ts';
import { decoded } from './links.ts';
import { type Page, PageLink, pathOfPage } from './page-link.tsx';
import { UnreadCount } from './phrase.tsx';
import { PresenceDot, StatusEmoji } from './status.tsx';

interface EntryProps {
  narrow: Exclude<Page, string>;
  label: string;
  unread: number;
  color?: string;
  /** A text before the count, in small letters. */
  hint?: string;
  /** The user whose presence and status are shown beside the label. */
  userId?: number | undefined;
}

const isSameEntry = (a: EntryProps, b: EntryProps): boolean =>
  keyOf(a.narrow) === keyOf(b.narrow) &&
  a.label === b.label &&
  a.unread === b.unread &&
  a.color === b.color &&
  a.hint === b.hint &&
  a.userId === b.userId;

export const Entry = memo(function Entry(props: EntryProps) {
  return (
    <li>
      <EntryLink {...props} />
    </li>
  );
}, isSameEntry);

export function EntryLink({ narrow, label, unread, color, hint, userId }: EntryProps) {
  return (
    <EntryAnchor to={narrow} title={label}>
      {color !== undefined && <span className="hash" aria-hidden="true" style={{ background: color }} />}
      {userId !== undefined && <PresenceDot userId={userId} />}
      <Label label={label} unread={unread} hint={hint} userId={userId} />
    </EntryAnchor>
  );
}

export function PageEntry({ to, label, unread }: { to: '/inbox' | '/search'; label: string; unread: number }) {
  return (
    <EntryAnchor to={to}>
      <Label label={label} unread={unread} />
    </EntryAnchor>
  );
}

/** A link that shows whether its page is open. */
function EntryAnchor({ to, title = '', children }: { to: Page; title?: string; children: ReactNode }) {
  const path = pathOfPage(to);
  const isOpen = useRouterState({ select: ({ location }) => decoded(location.pathname) === path });
  return (
    <PageLink
      to={to}
      isOpen={isOpen}
      className={isOpen ? 'entry active' : 'entry'}
      {...(title === '' ? {} : { title })}
    >
      {children}
    </PageLink>
  );
}

interface LabelProps {
  label: string;
  unread: number;
  hint?: string | undefined;
  userId?: number | undefined;
}

function Label({ label, unread, hint, userId }: LabelProps) {
  return (
    <>
      <span className="label">{label}</span>
      {userId !== undefined && <StatusEmoji userId={userId} />}
      {hint !== undefined && <span className="entry-hint"> {hint}</span>}
      {unread > 0 && <UnreadCount of={unread} />}
    </>
  );
}
