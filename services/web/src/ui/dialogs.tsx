import { lazy, Suspense, useEffect } from 'react';
import { loadPart } from '../browser/load-part.ts';
import { t } from '../text/text.ts';
import { closeDialog, useDialog } from './open-dialog.ts';

const NewMessage = lazy(() => loadPart(() => import('./new-message-dialog.tsx')));
const Drafts = lazy(() => loadPart(() => import('./drafts-dialog.tsx')));
const Schedule = lazy(() => loadPart(() => import('./schedule-dialog.tsx')));
const Remind = lazy(() => loadPart(() => import('./remind-dialog.tsx')));
const Channels = lazy(() => loadPart(() => import('./channels-dialog.tsx')));
const Settings = lazy(() => loadPart(() => import('./settings-dialog.tsx')));
const EmojiPicker = lazy(() => loadPart(() => import('./emoji-picker.tsx')));
const History = lazy(() => loadPart(() => import('./history-dialog.tsx')));
const Readers = lazy(() => loadPart(() => import('./readers-dialog.tsx')));
const Person = lazy(() => loadPart(() => import('./person-dialog.tsx')));
const StatusDialog = lazy(() => loadPart(() => import('./status-dialog.tsx')));
const Pictures = lazy(() => loadPart(() => import('./pictures-dialog.tsx')));
const Delete = lazy(() => loadPart(() => import('./delete-dialog.tsx')));
const Move = lazy(() => loadPart(() => import('./move-dialog.tsx')));
const Palette = lazy(() => loadPart(() => import('./palette.tsx')));
const Shortcuts = lazy(() => loadPart(() => import('./shortcuts-dialog.tsx')));
const LogOut = lazy(() => loadPart(() => import('./log-out-dialog.tsx')));
const Organization = lazy(() => loadPart(() => import('./organization-dialog.tsx')));

/** The open dialog. Its code is loaded when it is first needed. */
export function Dialogs() {
  const dialog = useDialog();
  if (!dialog) return null;
  return (
    <Suspense fallback={<Loading />}>
      {dialog.name === 'new' && <NewMessage text={dialog.text} />}
      {dialog.name === 'drafts' && <Drafts part={dialog.part} />}
      {dialog.name === 'channels' && <Channels />}
      {dialog.name === 'settings' && <Settings />}
      {dialog.name === 'organization' && <Organization />}
      {dialog.name === 'palette' && <Palette />}
      {dialog.name === 'shortcuts' && <Shortcuts />}
      {dialog.name === 'emoji' && <EmojiPicker title={dialog.title} onChoose={dialog.onChoose} />}
      {dialog.name === 'delete' && <Delete messageId={dialog.messageId} />}
      {dialog.name === 'history' && <History messageId={dialog.messageId} />}
      {dialog.name === 'readers' && <Readers messageId={dialog.messageId} />}
      {dialog.name === 'picture' && <Pictures messageId={dialog.messageId} nth={dialog.nth} />}
      {dialog.name === 'move' && <Move place={dialog.place} messageId={dialog.messageId} />}
      {dialog.name === 'person' && <Person userId={dialog.userId} />}
      {dialog.name === 'status' && <StatusDialog draft={dialog.draft} />}
      {dialog.name === 'log out' && <LogOut isEverywhere={dialog.isEverywhere} />}
      {dialog.name === 'remind' && <Remind messageId={dialog.messageId} />}
      {dialog.name === 'schedule' && <Schedule place={dialog.place} text={dialog.text} draft={dialog.draft} />}
    </Suspense>
  );
}

/** The code of a dialog may be long in coming: Escape gives it up. */
function Loading() {
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') closeDialog();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <p className="toast" role="status">
      {t('loading')}
    </p>
  );
}
