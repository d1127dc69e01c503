import { type RefObject, useLayoutEffect, useSyncExternalStore } from 'react';
import { type DraftBox, linkAfter, type Upload } from '../session/uploads.ts';
import { t } from '../text/text.ts';
import { insertText } from './insert-text.ts';
import { Phrase } from './phrase.tsx';
import { useSession } from './session-context.tsx';

export interface ShownUploads {
  all: readonly Upload[];
  /** Whether a file is on its way. */
  isBusy: boolean;
  add: (files: readonly File[]) => void;
  remove: (one: Upload) => void;
}

/** The files of a draft on their way. Each becomes a link in the text. */
export function useUploads(draft: DraftBox, box: RefObject<HTMLTextAreaElement | null>): ShownUploads {
  const { key } = draft;
  const { uploads } = useSession().writer;
  const all = useSyncExternalStore(uploads.subscribe, () => uploads.of(key));
  // Ends together with the box, so that no link is put into a box that has gone.
  useLayoutEffect(
    () =>
      uploads.insertInto(key, (uploaded) => {
        if (!box.current) return;
        const at = box.current.selectionEnd;
        insertText(box.current, linkAfter(box.current.value.slice(0, at), uploaded), at, at);
      }),
    [uploads, key, box],
  );
  return {
    all,
    isBusy: all.some(({ problem }) => problem === undefined),
    add: (files) => uploads.add(draft, files),
    remove: (one) => uploads.remove(key, one),
  };
}

export function UploadList({ uploads: { all, remove } }: { uploads: ShownUploads }) {
  if (all.length === 0) return null;
  return (
    <ul className="uploads" aria-label={t('files')}>
      {all.map((one) => (
        <li key={one.id}>
          <bdi>{one.name}</bdi>
          {one.problem === undefined ? (
            <progress aria-label={t('uploadOf', { name: one.name })} max={Math.max(1, one.size)} value={one.sent} />
          ) : (
            <span className="alarm" role="alert">
              {one.problem}
            </span>
          )}
          <button type="button" className="plain" onClick={() => remove(one)}>
            {one.problem === undefined ? (
              <Phrase short={t('cancel')} full={t('cancelName', { name: one.name })} />
            ) : (
              <Phrase short={t('remove')} full={t('removeName', { name: one.name })} />
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}
