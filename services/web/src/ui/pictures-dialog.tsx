import { t } from '../text/text.ts';
import './pictures.css';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { keyOf, type Message } from '../state/place.ts';
import { contentOf } from './content.ts';
import { shortTime } from './dates.ts';
import { Notice } from './notice.tsx';
import { closeDialog } from './open-dialog.ts';
import { type Picture, picturesIn } from './pictures.ts';
import { useSelected, useSession } from './session-context.tsx';
import { useClickBeside } from './use-click-beside.ts';
import { useDialogElement } from './use-dialog-element.ts';

interface Shown extends Picture {
  message: Message;
}
interface PicturesProps {
  messageId: number;
  nth: number;
}

/** The pictures of the list on screen. Pictures in spoilers are left out, except the opened one. */
function usePictures(opened: PicturesProps): readonly Shown[] {
  const session = useSession();
  const [narrow] = useState(() => session.shown?.narrow);
  const view = useSelected(({ views }) => (narrow ? views.get(keyOf(narrow)) : undefined));
  const messages = useSelected((state) => state.messages);
  const { messageId, nth } = opened;
  return useMemo(() => {
    const ids = view?.ids.includes(messageId) ? view.ids : [messageId];
    return ids.flatMap((id) => {
      const message = messages.get(id);
      if (!message?.content.includes('<img')) return [];
      const isOpened = (one: Picture): boolean => id === messageId && one.nth === nth;
      return picturesIn(contentOf(message.content))
        .filter((one) => !one.isHidden || isOpened(one))
        .map((one) => ({ ...one, message }));
    });
  }, [view, messages, messageId, nth]);
}

const steps: Record<string, (at: number, count: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_at, count) => count - 1,
};

/** Shows a picture as large as the window, and leads to the pictures before and after it. */
export default function Pictures(opened: PicturesProps) {
  const all = usePictures(opened);
  const [shown, setShown] = useState(opened);
  const element = useDialogElement();
  const at = all.findIndex(({ message, nth }) => message.id === shown.messageId && nth === shown.nth);
  const picture = all[at];
  const go = (to: number): void => {
    const next = all[to];
    if (next) setShown({ messageId: next.message.id, nth: next.nth });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    element.onKeyDown(event);
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(step(at, all.length));
  };
  return (
    <dialog {...element} className="pictures" aria-label={t('pictures')} onKeyDown={onKeyDown}>
      <header>
        <p role="status">
          <bdi>{picture?.name ?? t('thePictureIsGone')}</bdi>
          {picture && all.length > 1 && (
            <span className="faint"> {t('pictureOf', { at: at + 1, all: all.length })}</span>
          )}
        </p>
        {picture && (
          <a className="plain" href={picture.href} target="_blank" rel="noopener noreferrer">
            {t('openTheFile')}
          </a>
        )}
        <button type="button" className="tool-button" aria-label={t('close')} title={t('close')} onClick={closeDialog}>
          <span aria-hidden="true">✕</span>
        </button>
      </header>
      <Stage picture={picture} />
      <footer>
        <Step label={t('previousPicture')} sign="‹" isDisabled={at <= 0} onClick={() => go(at - 1)} />
        {picture && (
          <p>
            <bdi>{picture.message.sender_full_name}</bdi>, {shortTime(picture.message.timestamp)}
          </p>
        )}
        <Step
          label={t('nextPicture')}
          sign="›"
          isDisabled={at < 0 || at === all.length - 1}
          onClick={() => go(at + 1)}
        />
      </footer>
      <Notice />
    </dialog>
  );
}

function Stage({ picture }: { picture: Shown | undefined }) {
  const [failed, setFailed] = useState<string>();
  const beside = useClickBeside(closeDialog);
  return (
    // The button and Escape close, too.
    <div className="stage" {...beside}>
      {picture && failed === picture.src && <p role="alert">{t('thePictureCouldNotBeLoaded')}</p>}
      {picture && failed !== picture.src && (
        <img key={picture.src} src={picture.src} alt={picture.name} onError={() => setFailed(picture.src)} />
      )}
    </div>
  );
}

interface StepProps {
  label: string;
  sign: string;
  isDisabled: boolean;
  onClick: () => void;
}

/** A disabled button would lose the focus. */
function Step({ label, sign, isDisabled, onClick }: StepProps) {
  return (
    <button
      type="button"
      className="tool-button"
      aria-label={label}
      title={label}
      aria-disabled={isDisabled}
      onClick={onClick}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  );
}
