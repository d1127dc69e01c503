import { useRouter, useRouterState } from '@tanstack/react-router';
import type { CSSProperties, MouseEvent, ReactNode } from 'react';
import type { Narrow } from '../state/place.ts';
import { decoded, linkTo, pathOf } from './links.ts';

interface PageLinkProps {
  /** A conversation or list, or the path of another page. */
  to: Narrow | '/inbox' | '/search' | '/recent';
  /** The message at which the page opens. */
  near?: number;
  className?: string;
  title?: string;
  tabIndex?: number;
  style?: CSSProperties;
  isOpen?: boolean;
  children: ReactNode;
}

/** A link to a page of this client. Lighter than the link of the router, because a page may have thousands. */
export function PageLink({ to, near, isOpen = false, children, ...rest }: PageLinkProps) {
  const router = useRouter();
  const target = typeof to === 'string' ? { to } : linkTo(to, near);
  const open = (event: MouseEvent): void => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate(target);
  };
  return (
    <a {...rest} href={pathOf(target)} aria-current={isOpen ? 'page' : undefined} onClick={open}>
      {children}
    </a>
  );
}

/** A link that shows whether its page is open. */
export function EntryLink({ to, ...rest }: Omit<PageLinkProps, 'near' | 'className' | 'isOpen'>) {
  const path = decoded(pathOf(typeof to === 'string' ? { to } : linkTo(to)));
  const isOpen = useRouterState({ select: ({ location }) => decoded(location.pathname) === path });
  return <PageLink {...rest} to={to} isOpen={isOpen} className={isOpen ? 'entry active' : 'entry'} />;
}
