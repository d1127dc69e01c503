import { requireEventRoom, type Work } from '@natter/database';
import type { ReadableMessage } from '../model/message-access.ts';
import type { Change } from './change-decision.ts';
import { receivers } from './change-receivers.ts';
import { countMoved, requireMoveAllowance } from './move-allowance.ts';
import { type Anchor, countMovable, lockAnchor } from './moved-messages.ts';

/** A move of several messages that is about to begin. */
export interface Move {
  mover: number;
  requestId: string;
  /** How many messages this process has counted for the request. */
  known: number;
  message: ReadableMessage;
  anchor: Anchor;
  change: Change;
  onlySeenBy: number | undefined;
}

/**
 * Refuses a move, or counts its messages once for each request; returns their number. Call it in a unit of its own before
 * that of the move: a move that fails later has cost as much as one that succeeds. Throws RATE_LIMIT_HIT,
 * REQUEST_TOO_LARGE, VersionsChanged, or the refusals of `countMovable`.
 */
export async function admitMove(work: Work, move: Move): Promise<number> {
  const { mover, requestId, known, message, anchor, change, onlySeenBy } = move;
  const before = await requireMoveAllowance(work, mover, { requestId, known });
  await lockAnchor(work, anchor);
  const count = await countMovable(work, anchor, change, onlySeenBy);
  // If somebody loses access, there is an event for each message. Some may lose only other messages than the anchor: the
  // move checks it again when it has locked all.
  const { losers } = await receivers(work, message, change, [anchor.id]);
  if (losers.length > 0) requireEventRoom(count);
  if (count > before) await countMoved(work, mover, requestId, { count, before });
  return count;
}
