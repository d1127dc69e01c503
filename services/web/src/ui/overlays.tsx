import { lazy, Suspense } from 'react';
import { showOverlay, useOverlay } from './overlay.ts';

const EmojiPicker = lazy(async () => ({ default: (await import('./emoji-picker.tsx')).EmojiPicker }));
const DeleteDialog = lazy(async () => ({ default: (await import('./delete-dialog.tsx')).DeleteDialog }));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const ShortcutsDialog = lazy(async () => ({ default: (await import('./shortcuts-dialog.tsx')).ShortcutsDialog }));

/** The open dialog. Its code is loaded when it opens for the first time. */
export function Overlays() {
  const overlay = useOverlay();
  const close = (): void => showOverlay(undefined);
  return (
    <Suspense>
      {overlay?.kind === 'emoji' && <EmojiPicker messageId={overlay.messageId} onClose={close} />}
      {overlay?.kind === 'delete' && <DeleteDialog messageId={overlay.messageId} onClose={close} />}
      {overlay?.kind === 'palette' && <Palette onClose={close} />}
      {overlay?.kind === 'shortcuts' && <ShortcutsDialog onClose={close} />}
    </Suspense>
  );
}
