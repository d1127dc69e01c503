import { useNavigate } from '@tanstack/react-router';
import type { Place } from '../state/place.ts';
import { linkTo } from './links.ts';
import { useSession } from './session-context.tsx';

/** Leads from a conversation to where its messages are now. What was written in reply to them goes along. */
export function useLeadOn(): (from: Place, to: Place, near: number | undefined) => void {
  const session = useSession();
  const navigate = useNavigate();
  return (from, to, near) => {
    session.writer.carry(from, to);
    void navigate({ ...linkTo(to, near), replace: true });
  };
}
