import { lazy, Suspense } from 'react';
import { closeDialog, useDialog } from './open-dialog.ts';

const NewMessage = lazy(() => import('./new-message-dialog.tsx'));
const Drafts = lazy(() => import('./drafts-dialog.tsx'));
const Schedule = lazy(() => import('./schedule-dialog.tsx'));
const Remind = lazy(() => import('./remind-dialog.tsx'));
const Channels = lazy(() => import('./channels-dialog.tsx'));
const Settings = lazy(() => import('./settings-dialog.tsx'));
const EmojiPicker = lazy(() => import('./emoji-picker.tsx'));
const Delete = lazy(() => import('./delete-dialog.tsx'));
const Palette = lazy(() => import('./palette.tsx'));
const Shortcuts = lazy(() => import('./shortcuts-dialog.tsx'));
const Organization = lazy(() => import('./organization-dialog.tsx'));

/** The open dialog. Its code is loaded when it is first needed. */
export function Dialogs() {
  const dialog = useDialog();
  if (!dialog) return null;
  return (
    <Suspense
      fallback={
        <p className="toast" role="status">
          Loading…
        </p>
      }
    >
      {dialog.name === 'new' && <NewMessage />}
      {dialog.name === 'drafts' && <Drafts />}
      {dialog.name === 'channels' && <Channels />}
      {dialog.name === 'settings' && <Settings />}
      {dialog.name === 'organization' && <Organization />}
      {dialog.name === 'palette' && <Palette />}
      {dialog.name === 'shortcuts' && <Shortcuts />}
      {dialog.name === 'emoji' && <EmojiPicker messageId={dialog.messageId} />}
      {dialog.name === 'delete' && <Delete messageId={dialog.messageId} />}
      {dialog.name === 'remind' && <Remind messageId={dialog.messageId} />}
      {dialog.name === 'schedule' && (
        <Schedule
          place={dialog.place}
          text={dialog.text}
          onDone={() => {
            dialog.onDone();
            closeDialog();
          }}
        />
      )}
    </Suspense>
  );
}
