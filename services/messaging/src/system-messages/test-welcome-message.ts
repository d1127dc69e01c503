import { badRequest, messagingOperations } from '@natter/contracts';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import type { Authors } from '../model/authors.ts';
import { botOf } from '../model/notice.ts';
import type { DecideSend } from '../model/sending/decide-planned.ts';

/**
 * Sends an administrator the welcome message that new users get, from the same sender, with the names and files that the
 * administrator may see.
 */
export const testWelcomeHandlers = (owner: Owner, decideSend: DecideSend, authors: Authors): Handlers => [
  handleWrite(messagingOperations.testWelcomeMessage, async (context, params) => {
    const { actor, meta, attempt, commit } = context;
    const { realmId, userId } = actor;
    const content = params.welcome_message_custom_text;
    const bot = await botOf(owner.database, realmId, 'Welcome Bot');
    if (bot === undefined) throw badRequest('No such user');
    const isFresh = attempt > 0;
    const author = await authors.get(meta, bot, isFresh);
    const to = { type: 'direct' as const, to: [userId], topic: undefined, read_by_sender: undefined };
    const message = { ...to, content, seenBy: actor };
    const internal = { ...meta, client: 'Internal' };
    const decided = await decideSend(author, internal, message, isFresh);
    const answer = { named: 'message_id' as const, rest: {} };
    return commit({ ...decided, answer });
  }),
];
