import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { keyOf, type Narrow } from '../state/place.ts';
import { linkTo } from './links.ts';

interface EntryProps {
  narrow: Narrow;
  label: string;
  unread: number;
  color?: string;
  /** Stands before the count, in small letters. */
  hint?: string;
}

const isSameEntry = (a: EntryProps, b: EntryProps): boolean =>
  keyOf(a.narrow) === keyOf(b.narrow) &&
  a.label === b.label &&
  a.unread === b.unread &&
  a.color === b.color &&
  a.hint === b.hint;

export const Entry = memo(function Entry(props: EntryProps) {
  return (
    <li>
      <EntryLink {...props} />
    </li>
  );
}, isSameEntry);

export function EntryLink({ narrow, label, unread, color, hint }: EntryProps) {
  return (
    <Link {...linkTo(narrow)} className="entry" activeOptions={exactly} title={label}>
      {color !== undefined && <span className="hash" aria-hidden="true" style={{ background: color }} />}
      <Label label={label} unread={unread} hint={hint} />
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

function Label({ label, unread, hint }: { label: string; unread: number; hint?: string | undefined }) {
  return (
    <>
      <span className="label">{label}</span>
      {hint !== undefined && <span className="entry-hint"> {hint}</span>}
      {unread > 0 && (
        <span className="count">
          {unread}
          <span className="hidden"> unread</span>
        </span>
      )}
    </>
  );
}
