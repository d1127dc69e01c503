import type { FormEvent } from 'react';
import { isLoggingOut, onLogOut } from '../browser/login.ts';
import { isSessionOver } from '../session/csrf.ts';
import { forgetTexts, keepsUnsent } from '../session/kept-texts.ts';
import { openDialog } from './open-dialog.ts';
import { useSession } from './session-context.tsx';

/** Returns a function for forms that log out at once. It deletes the texts of the account in this browser. */
export function useLogOut(): () => void {
  const session = useSession();
  return () => {
    const { ownId } = session.state.model;
    onLogOut();
    // The page goes when the server has answered: until then the reader may stop the logout.
    addEventListener('pagehide', () => isLoggingOut() && isSessionOver() && forgetTexts(ownId), { once: true });
  };
}

/** For forms that log out after a question, if something that was written here would be lost. */
export function useAskedLogOut(isEverywhere: boolean): (event: FormEvent) => void {
  const session = useSession();
  const logOut = useLogOut();
  return (event) => {
    const { model, outbox } = session.state;
    if (!outbox.some(({ sentAs }) => sentAs === undefined) && !keepsUnsent(model.ownId)) return logOut();
    event.preventDefault();
    openDialog({ name: 'log out', isEverywhere });
  };
}
