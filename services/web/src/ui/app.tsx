import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
  useNavigate,
  useRouterState,
} from '@tanstack/react-router';
import { type MouseEvent, useEffect, useState } from 'react';
import type { Session } from '../session/session.ts';
import { topicPlace } from '../state/place.ts';
import { Banner } from './banner.tsx';
import { Conversation } from './conversation.tsx';
import { idsOf, linkTo, narrowOfLink, topicOf } from './links.ts';
import { SessionContext } from './session-context.tsx';
import { Sidebar } from './sidebar.tsx';

export function App({ session }: { session: Session }) {
  return (
    <SessionContext value={session}>
      <RouterProvider router={router} />
    </SessionContext>
  );
}

function Frame() {
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    const narrow = narrowOfLink(location.hash);
    if (narrow) void navigate({ ...linkTo(narrow), replace: true });
  }, [navigate]);
  /** Messages contain links to conversations, which are pages of this client. */
  const follow = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const narrow = link && narrowOfLink(link.getAttribute('href') ?? '');
    if (!narrow || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void navigate(linkTo(narrow));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: links have the role; this handles those of messages.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
    <div className="frame" data-sidebar={isOpen ? 'open' : 'closed'} onClick={follow}>
      <a className="skip" href="#compose">
        Skip to the compose box
      </a>
      <Banner />
      <Sidebar onClose={() => setOpen(false)} />
      <Outlet />
      <button type="button" className="sidebar-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span aria-hidden="true">☰</span>
        <span className="hidden">Conversations</span>
      </button>
    </div>
  );
}

const rootRoute = createRootRoute({ component: Frame, notFoundComponent: NotFound });

const feed = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: () => <Conversation narrow={{ kind: 'feed' }} />,
});

const channel = createRoute({
  getParentRoute: () => rootRoute,
  path: '/channel/$channel',
  component: function ChannelPage() {
    const [channelId] = idsOf(channel.useParams().channel) ?? [];
    return channelId === undefined ? <NotFound /> : <Conversation narrow={{ kind: 'channel', channelId }} />;
  },
});

const topic = createRoute({
  getParentRoute: () => rootRoute,
  path: '/channel/$channel/topic/$topic',
  component: function TopicPage() {
    const params = topic.useParams();
    const [channelId] = idsOf(params.channel) ?? [];
    return channelId === undefined ? (
      <NotFound />
    ) : (
      <Conversation narrow={topicPlace(channelId, topicOf(params.topic))} />
    );
  },
});

const direct = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dm/$people',
  component: function DirectPage() {
    const userIds = idsOf(direct.useParams().people);
    return userIds === undefined ? <NotFound /> : <Conversation narrow={{ kind: 'direct', userIds }} />;
  },
});

function NotFound() {
  return (
    <main className="conversation">
      <div className="empty">
        <h1>There is no such page</h1>
        <a href="/">Go to the combined feed</a>
      </div>
    </main>
  );
}

const router = createRouter({ routeTree: rootRoute.addChildren([feed, channel, topic, direct]) });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
