import type { ChatEvent, Position } from '@natter/client';
import type { Model } from '../state/model.ts';

/** The state that a register would answer at this position of the queue: a snapshot, and the events since. */
export interface Point {
  model: Model;
  position: Position;
}

/** The queue ended, or this tab has missed events: the state begins anew. */
export interface NewModel {
  type: 'gap';
  model: Model;
}

export type Said =
  /** A tab needs a point. */
  | { type: 'ask'; from: string }
  /** The leader's point; without `to` it is for all, because the queue is new. */
  | { type: 'point'; point: Point; to?: string; isVisible: boolean }
  /** The event that follows `after`. Without it the position alone has moved. */
  | { type: 'event'; after: Position; event: ChatEvent | undefined; position: Position }
  /** Another tab leads from now on. */
  | { type: 'lead' }
  /** A question to the leader, to check that it still runs. */
  | { type: 'ping' }
  /** The leader runs, perhaps without a point. */
  | { type: 'alive' }
  | { type: 'unreachable' };
