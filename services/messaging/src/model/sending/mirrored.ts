import { type Actor, badRequest, type ChatError } from '@natter/contracts';
import type { Database } from '@natter/database';
import type { Authors } from '../authors.ts';
import { findPeopleByEmail } from '../people.ts';
import type { Params, SendRequest } from './send-params.ts';

/** The named sender of a message. The rights of the actor who sends it limit the message. */
export interface Author {
  actor: Actor;
  /** When the message was sent elsewhere, in seconds since 1970. It is shown; nothing is decided by it. */
  statedAt: number | undefined;
  /** Expected versions beside those of the actor. */
  expected: Record<string, number>;
}

/** Difference of clocks that a stated time may have. */
const skewSeconds = 60;

const isForged = ({ forged }: Params): boolean => forged === 'yes' || forged === 'true';

/** Whether the request states who wrote the message, or when. */
export const isMirrored = (params: Params): boolean => params.sender !== undefined || isForged(params);

/**
 * The author of a mirrored message: the actor, or the user whom a mirroring bot names. The bot sends by its own rights, so that
 * it writes to no channel and refers to no file of the author that it could not use itself.
 */
export async function authorOf(
  { database, authors }: { database: Database; authors: Authors },
  { actor, meta, params, fresh }: SendRequest,
): Promise<Author> {
  const { sender, time } = params;
  // The actor may be older than its right. The commit compares the versions, and repeats the decision with a fresh actor.
  const holder = actor.mayForgeSender ? actor : await authors.get(meta, actor.userId, true);
  if (!holder.mayForgeSender) throw notAuthorized();
  const statedAt = isForged(params) ? time : undefined;
  if (statedAt !== undefined && statedAt > Date.now() / 1000 + skewSeconds)
    throw badRequest('The time of a message must not be in the future');
  if (sender === undefined) return { actor, statedAt, expected: {} };
  const [person] = await findPeopleByEmail(database, actor.realmId, [sender.trim()]);
  if (!person?.is_active) throw invalidMirrored();
  const author = await authors.get(meta, person.user_id, fresh);
  if (author.isSystemBot) throw invalidMirrored();
  const key = `actor:${author.userId}`;
  const version = author.basis[key];
  return { actor: author, statedAt, expected: version === undefined ? {} : { [key]: version } };
}

export const notAuthorized = (): ChatError => badRequest('User not authorized for this query');
export const invalidMirrored = (): ChatError => badRequest('Invalid mirrored message');
