import { ApiError } from '@natter/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { goToLogin, navigate } from './browser/login.ts';
import { problemOf } from './session/problem.ts';
import { Session } from './session/session.ts';
import { leaveTab } from './session/tabs.ts';
import { rememberAccount } from './text/choice.ts';
import { language, markPage, preferredNow, t } from './text/text.ts';
import { App } from './ui/app.tsx';
import { narrowOfPath } from './ui/links.ts';
import { applyTheme } from './ui/theme.ts';
// Of two rules that match alike, the later one applies: the order of these files is part of the look.
import './ui/base.css';
import './ui/message-tools.css';
import './ui/unlisted.css';
import './ui/dialog.css';
import './ui/message-editor.css';
import './ui/inbox.css';
import './ui/search.css';
import './ui/notice.css';
import './ui/sidebar.css';
import './ui/menu.css';
import './ui/conversation.css';
import './ui/reactions.css';
import './ui/message.css';
import './ui/content.css';
import './ui/narrow.css';
import './ui/code.css';

applyTheme();
markPage();
const root = createRoot(document.getElementById('root') as HTMLElement);
/** The page shows after this time why it has not started yet. */
const patienceMs = 4_000;
const showStart = (text: string): void =>
  root.render(
    <main className="blank" aria-busy="true">
      <p role="status">{text}</p>
    </main>,
  );
showStart(t('connecting'));
let failure: unknown;
let isLate = false;
const showDelay = (): void =>
  showStart(
    failure instanceof ApiError ? t('serverRefusesForNow', { problem: problemOf(failure) }) : t('serverDoesNotAnswer'),
  );
const patience = setTimeout(() => {
  isLate = true;
  showDelay();
}, patienceMs);
try {
  const session = await Session.start((latest) => {
    failure = latest;
    if (isLate) showDelay();
  });
  clearTimeout(patience);
  // The account has another language than the page was loaded in.
  if (rememberAccount(session.state.model.writing.settings.default_language) && preferredNow() !== language)
    navigate(() => location.reload());
  // The messages are on their way while the page is drawn.
  if (location.search === '' && location.hash === '') {
    const narrow = narrowOfPath(location.pathname, session.state.model.ownId);
    if (narrow) void session.open(narrow);
  }
  root.render(
    <StrictMode>
      <App session={session} />
    </StrictMode>,
  );
  await session.run();
} catch (error) {
  clearTimeout(patience);
  leaveTab();
  if (error instanceof ApiError && error.status === 401) goToLogin();
  else
    root.render(
      <main className="blank">
        <h1>{t('natterCannotBeReached')}</h1>
        <p role="alert">{problemOf(error)}</p>
        <button type="button" onClick={() => location.reload()}>
          {t('tryAgain')}
        </button>
      </main>,
    );
}
