import { useNavigate } from '@tanstack/react-router';
import { keyOf, type Place } from '../state/place.ts';
import { keepFocusFrom } from './compose-text.ts';
import { editAgain } from './editing.ts';
import { linkTo } from './links.ts';
import { closeScheduling } from './open-dialog.ts';
import { useSession } from './session-context.tsx';

type Lead<Outcome> = (from: Place, to: Place, near: number | undefined) => Outcome;

/** Leads from a conversation to the one that has its messages now, and moves the text in the compose box there. */
export function useLeadOn(): Lead<void> {
  const session = useSession();
  const navigate = useNavigate();
  return (from, to, near) => {
    session.writer.carry(from, to);
    void navigate({ ...linkTo(to, near), replace: true });
  };
}

/**
 * Leads on because others moved the messages, while the reader may be typing anywhere on the page: the compose box takes
 * the focus only if it had it. Does nothing, and returns false, if the reader's text cannot go along.
 */
export function useFollow(): Lead<boolean> {
  const session = useSession();
  const navigate = useNavigate();
  return (from, to, near) => {
    const { activeElement, body } = document;
    if (!session.writer.carry(from, to)) return false;
    if (activeElement?.id !== 'compose') keepFocusFrom(keyOf(to));
    // The row of the edited message may have left the page with the focus.
    if (activeElement === null || activeElement === body) editAgain();
    // The open dialog for scheduling would send to the old place.
    closeScheduling();
    void navigate({ ...linkTo(to, near), replace: true });
    return true;
  };
}
