import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { keyOf, type Narrow } from '../state/place.ts';
import { linkTo } from './links.ts';
import { UnreadCount } from './phrase.tsx';
import { PresenceDot, StatusEmoji } from './status.tsx';

interface EntryProps {
  narrow: Narrow;
  label: string;
  unread: number;
  color?: string;
  /** Stands before the count, in small letters. */
  hint?: string;
  /** Whose presence and status stand beside the label. */
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
    <Link {...linkTo(narrow)} className="entry" activeOptions={exactly} title={label}>
      {color !== undefined && <span className="hash" aria-hidden="true" style={{ background: color }} />}
      {userId !== undefined && <PresenceDot userId={userId} />}
      <Label label={label} unread={unread} hint={hint} userId={userId} />
    </Link>
  );
}

const exactly = { exact: true, includeSearch: false };

export function PageLink({ to, label, unread }: { to: '/inbox' | '/search'; label: string; unread: number }) {
  return (
    <Link to={to} className="entry" activeOptions={exactly}>
      <Label label={label} unread={unread} />
    </Link>
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
