import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import type { Target } from '../state/link-terms.ts';
import { type Narrow, placeOf } from '../state/place.ts';
import { linkTo, pageNow } from './links.ts';
import { useSession } from './session-context.tsx';

/**
 * Opens the target of a link. If its conversation was moved or renamed since, this is the present conversation of the
 * message.
 */
export function useOpenTarget(): (target: Target, options?: { replace: boolean }) => void {
  const session = useSession();
  const navigate = useNavigate();
  const latest = useRef<Target>(undefined);
  return (target, options = { replace: false }) => {
    const { narrow, near, of } = target;
    latest.current = target;
    const open = (to: Narrow): void => void navigate({ ...linkTo(to, near), ...options });
    // A page that opens at a message follows that message itself.
    if (of === undefined || near !== undefined) return open(narrow);
    const { messages, model } = session.state;
    const loaded = messages.get(of);
    if (loaded) return open(placeOf(loaded, model.ownId));
    const from = pageNow();
    void session.placeOf(of).then((place) => {
      if (latest.current === target && pageNow() === from) open(place ?? narrow);
    });
  };
}
