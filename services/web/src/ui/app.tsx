import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  RouterProvider,
  useRouterState,
} from '@tanstack/react-router';
import { type MouseEvent, useEffect, useState } from 'react';
import { loadPart } from '../browser/load-part.ts';
import type { Session } from '../session/session.ts';
import { directPlace, topicPlace } from '../state/place.ts';
import { t } from '../text/text.ts';
import { Banner } from './banner.tsx';
import { Conversation } from './conversation.tsx';
import { useDesktopNotifications } from './desktop-notifications.ts';
import { Dialogs } from './dialogs.tsx';
import { idsOf, isLinkToNewChannel, targetOfLink, topicOf } from './links.ts';
import { useLostEdits } from './lost-edits.ts';
import { PageNotice } from './notice.tsx';
import { openDialog } from './open-dialog.ts';
import { openPicture } from './pictures.ts';
import { useRefusals } from './refusals.ts';
import { SessionContext, useSelected, useSession } from './session-context.tsx';
import { useShortcuts } from './shortcuts.ts';
import { Sidebar } from './sidebar.tsx';
import { useUnloadQuestion } from './unload-question.ts';
import { useUnreadIcon } from './unread-icon.ts';
import { useOpenTarget } from './use-open-target.ts';

export function App({ session }: { session: Session }) {
  return (
    <SessionContext value={session}>
      <RouterProvider router={router} />
    </SessionContext>
  );
}

function Frame() {
  const openTarget = useOpenTarget();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    const open = (): void => {
      const target = targetOfLink(location.hash);
      if (target) openTarget(target, { replace: true });
    };
    open();
    addEventListener('hashchange', open);
    return () => removeEventListener('hashchange', open);
  }, []);
  const session = useSession();
  useShortcuts();
  useDesktopNotifications(session);
  useRefusals(session);
  useLostEdits(session);
  useUnloadQuestion(session);
  useUnreadIcon();
  /** Messages contain links to conversations, which are pages of this client. */
  const follow = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // The sidebar is closed even if the link leads to the page on screen.
    setOpen(false);
    const href = link.getAttribute('href') ?? '';
    const target = targetOfLink(href);
    const isNewChannel = isLinkToNewChannel(href);
    if (!target && !isNewChannel && !openPicture(link)) return;
    event.preventDefault();
    if (isNewChannel) openDialog({ name: 'channels' });
    if (target) openTarget(target);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: links have the role; this handles those of messages.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
    <div className="frame" data-sidebar={isOpen ? 'open' : 'closed'} onClick={follow}>
      <a className="skip" href="#compose">
        {t('skipToTheComposeBox')}
      </a>
      <Banner />
      <Sidebar onClose={() => setOpen(false)} />
      <Outlet />
      <PageNotice />
      <Dialogs />
      <button type="button" className="sidebar-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">☰</span>
        <span className="hidden">{t('conversations')}</span>
      </button>
    </div>
  );
}

interface Search {
  /** The message at which a page opens. */
  near?: number;
  /** The text of a search. */
  q?: string;
}

const rootRoute = createRootRoute({
  component: Frame,
  notFoundComponent: NotFound,
  validateSearch: ({ near, q }: Record<string, unknown>): Search => ({
    ...(Number.isSafeInteger(near) ? { near: near as number } : {}),
    ...(typeof q === 'string' || typeof q === 'number' ? { q: String(q) } : {}),
  }),
});

const listPage = (path: '/' | '/mentions' | '/starred', kind: 'feed' | 'mentions' | 'starred', empty: string) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    component: () => <Conversation narrow={{ kind }} near={rootRoute.useSearch().near} empty={empty} />,
  });
const lists = [
  listPage('/', 'feed', t('thereAreNoMessagesHereYet')),
  listPage('/mentions', 'mentions', t('nobodyHasMentionedYouYet')),
  listPage('/starred', 'starred', t('youHaveNotStarredAMessageYet')),
] as const;

const inbox = createRoute({
  getParentRoute: () => rootRoute,
  path: '/inbox',
  component: lazyRouteComponent(() => loadPart(() => import('./inbox.tsx')), 'InboxPage'),
});

const recent = createRoute({
  getParentRoute: () => rootRoute,
  path: '/recent',
  component: lazyRouteComponent(() => loadPart(() => import('./recent.tsx')), 'RecentPage'),
});

const search = createRoute({
  getParentRoute: () => rootRoute,
  path: '/search',
  component: lazyRouteComponent(() => loadPart(() => import('./search.tsx')), 'SearchPage'),
});

const channel = createRoute({
  getParentRoute: () => rootRoute,
  path: '/channel/$channel',
  component: function ChannelPage() {
    const [channelId] = idsOf(channel.useParams().channel) ?? [];
    const { near } = rootRoute.useSearch();
    return channelId === undefined ? (
      <NotFound />
    ) : (
      <Conversation narrow={{ kind: 'channel', channelId }} near={near} />
    );
  },
});

const topic = createRoute({
  getParentRoute: () => rootRoute,
  path: '/channel/$channel/topic/$topic',
  component: function TopicPage() {
    const params = topic.useParams();
    const { near } = rootRoute.useSearch();
    const [channelId] = idsOf(params.channel) ?? [];
    return channelId === undefined ? (
      <NotFound />
    ) : (
      <Conversation narrow={topicPlace(channelId, topicOf(params.topic))} near={near} />
    );
  },
});

const direct = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dm/$people',
  component: function DirectPage() {
    const participants = idsOf(direct.useParams().people);
    const ownId = useSelected(({ model }) => model.ownId);
    const { near } = rootRoute.useSearch();
    // Links of other clients name the reader, too.
    return participants === undefined ? (
      <NotFound />
    ) : (
      <Conversation narrow={directPlace(participants, ownId)} near={near} />
    );
  },
});

function NotFound() {
  return (
    <main className="conversation">
      <div className="empty">
        <h1>{t('thereIsNoSuchPage')}</h1>
        <a href="/">{t('goToTheCombinedFeed')}</a>
      </div>
    </main>
  );
}

/** Shown instead of the page after an error in its program, which the console reports. */
function Failed() {
  return (
    <main className="blank">
      <h1>{t('somethingWentWrong')}</h1>
      <button type="button" onClick={() => location.reload()}>
        {t('loadThePageAgain')}
      </button>
    </main>
  );
}

const router = createRouter({
  routeTree: rootRoute.addChildren([...lists, inbox, recent, search, channel, topic, direct]),
  defaultErrorComponent: Failed,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
