import { badRequest, isAdministrator, messagingOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import type { Authors } from '../scheduling/authors.ts';
import { botOf } from '../scheduling/notice.ts';
import { checkedContent } from '../send-message.ts';
import { decideSend, type Sending } from '../sending/decide-send.ts';

/** Shows an administrator what newcomers would be told, from whom they would be told it. */
export const testWelcomeHandlers = (owner: Owner, sending: Sending, authors: Authors): Handlers => [
  handle(messagingOperations.testWelcomeMessage, async (context, params) => {
    const { actor, meta, attempt, claim } = context;
    const { realmId, userId } = actor;
    if (!isAdministrator(actor)) throw badRequest('Must be an organization administrator');
    const content = checkedContent(params.welcome_message_custom_text);
    const bot = await botOf(owner.database, realmId, 'Welcome Bot');
    if (bot === undefined) throw badRequest('No such user');
    const isFresh = attempt > 0;
    const author = await authors.get(meta, bot, isFresh);
    const message = { type: 'direct' as const, to: [userId], content, topic: undefined, read_by_sender: undefined };
    const asked = { ...message, queue_id: undefined, local_id: undefined, widget_content: undefined };
    const internal = { ...meta, client: 'Internal' };
    const decided = await decideSend(sending, author, internal, asked, content, isFresh);
    const basis = { ...decided.basis, ...actor.basis };
    const answer = { named: 'message_id' as const, rest: {} };
    return owner.commit(realmId, { ...decided, basis, answer, claim });
  }),
];
