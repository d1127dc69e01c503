import { useRouter } from '@tanstack/react-router';
import type { CSSProperties, MouseEvent, ReactNode } from 'react';
import type { Narrow } from '../state/place.ts';
import { decoded, linkTo, pathOf } from './links.ts';

export type Page = Exclude<Narrow, { kind: 'search' }> | '/inbox' | '/search' | '/recent';

interface PageLinkProps {
  /** A conversation or list, or the path of another page. */
  to: Page;
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
  const target = targetOf(to, near);
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

const targetOf = (page: Page, near?: number) => (typeof page === 'string' ? { to: page } : linkTo(page, near));

/** The path of a page, as the router and the browser compare it. */
export const pathOfPage = (page: Page): string => decoded(pathOf(targetOf(page)));
