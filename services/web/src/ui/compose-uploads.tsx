import { type RefObject, useEffect, useRef, useState } from 'react';
import { problemOf } from '../session/problem.ts';
import { upload } from '../session/upload.ts';
import { t } from '../text/text.ts';
import { insertText } from './insert-text.ts';
import { Phrase } from './phrase.tsx';
import { useSelected } from './session-context.tsx';

interface Upload {
  id: number;
  name: string;
  size: number;
  sent: number;
  problem: string | undefined;
  request: AbortController;
}

export interface Uploads {
  all: readonly Upload[];
  /** Whether a file is on its way. */
  isBusy: boolean;
  add: (files: readonly File[]) => void;
  remove: (one: Upload) => void;
}

const mebibyte = 1024 * 1024;
let lastId = 0;

/** Files on their way. Each becomes a link in the text. */
export function useUploads(box: RefObject<HTMLTextAreaElement | null>): Uploads {
  const limit = useSelected(({ model }) => model.writing.limits.fileMebibytes);
  const [all, setAll] = useState<readonly Upload[]>([]);
  const latest = useRef(all);
  latest.current = all;
  useEffect(
    () => () => {
      for (const { request } of latest.current) request.abort();
    },
    [],
  );
  const change = (id: number, by: Partial<Upload>): void =>
    setAll((before) => before.map((one) => (one.id === id ? { ...one, ...by } : one)));
  const drop = (id: number): void => setAll((before) => before.filter((one) => one.id !== id));
  const begin = (file: File): Upload => {
    const request = new AbortController();
    const id = ++lastId;
    const isTooLarge = limit > 0 && file.size > limit * mebibyte;
    const problem = isTooLarge ? t('fileTooLarge', { limit }) : undefined;
    if (!isTooLarge)
      upload(file, { signal: request.signal, onProgress: (sent) => change(id, { sent }) }).then(
        ({ url, filename }) => {
          drop(id);
          if (box.current) addLink(box.current, filename, url);
        },
        (error: unknown) => request.signal.aborted || change(id, { problem: problemOf(error) }),
      );
    return { id, name: file.name, size: file.size, sent: 0, problem, request };
  };
  return {
    all,
    isBusy: all.some(({ problem }) => problem === undefined),
    add: (files) => {
      const begun = files.map(begin);
      setAll((before) => [...before, ...begun]);
    },
    remove: ({ id, request }) => {
      request.abort();
      drop(id);
    },
  };
}

/** A name of a file may contain signs of links. */
function addLink(box: HTMLTextAreaElement, name: string, url: string): void {
  const at = box.selectionEnd;
  const before = at === 0 || /\s$/.test(box.value.slice(0, at)) ? '' : '\n';
  insertText(box, `${before}[${name.replace(/[[\]\\`\n]/g, ' ')}](${url})\n`, at, at);
}

export function UploadList({ uploads: { all, remove } }: { uploads: Uploads }) {
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
