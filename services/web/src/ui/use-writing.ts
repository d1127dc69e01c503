import { type DragEvent, useRef, useState } from 'react';
import type { DraftBox } from '../session/uploads.ts';
import { t } from '../text/text.ts';
import { useUploads } from './compose-uploads.tsx';
import { insertWord } from './insert-text.ts';
import { openDialog } from './open-dialog.ts';

/** The tools of a text box for messages: files, a preview, and the choice of an emoji. */
export function useWriting(draft: DraftBox) {
  const box = useRef<HTMLTextAreaElement>(null);
  const [isPreview, setPreview] = useState(false);
  const uploads = useUploads(draft, box);
  const insertEmoji = (written: string): void => {
    setPreview(false);
    // The dialog gives the focus back to the button before the text takes it.
    setTimeout(() => box.current && insertWord(box.current, written));
  };
  const onDragOver = (event: DragEvent): void => {
    if (event.dataTransfer.types.includes('Files')) event.preventDefault();
  };
  const onDrop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    uploads.add([...event.dataTransfer.files]);
  };
  return {
    box,
    uploads,
    isPreview,
    setPreview,
    /** Attributes of the element on which files are dropped. */
    dropTarget: { onDragOver, onDrop },
    /** Properties of the toolbar. */
    tools: {
      isPreview,
      onPreview: () => setPreview(!isPreview),
      onFiles: uploads.add,
      onEmoji: () =>
        openDialog({ name: 'emoji', title: t('addAnEmoji'), onChoose: (_emoji, written) => insertEmoji(written) }),
    },
  };
}
