import { messagingOperations } from '@natter/contracts';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { checkedContent } from '../model/checked-content.ts';
import { mayLinkFiles } from '../model/files/references.ts';
import { dueNow } from '../model/scheduler-hint.ts';
import { decideSend, type Sending } from '../model/sending/decide-send.ts';
import { isContested } from '../model/sending/send-params.ts';
import { isUnknownChannel, notifyOfChannel } from './notify-of-channel.ts';

/** `hint` wakes the scheduler, which posts messages to outgoing webhook bots and sends notices. */
export function sendHandlers(owner: Owner, sending: Sending, hint: (dueSeconds: number) => void): Handlers {
  return [
    handleWrite(messagingOperations.sendMessage, async (context, params) => {
      const { actor, meta } = context;
      const content = checkedContent(params.content);
      // Names and messages with files are looked up in projections, which may be slightly behind.
      if (/[@#]_?\*/.test(content) || mayLinkFiles(content)) await owner.catchUp(actor.realmId);
      const tell = (outcome: 'sent' | 'refused') =>
        notifyOfChannel({ ...owner, channels: sending.channels, hint }, context, params, outcome);
      const { attempt } = context;
      const wanted = { ...params, isContested: isContested(attempt) };
      const request = { actor, meta, params: wanted, content, fresh: attempt > 0 };
      const decided = await decideSend(sending, request).catch(async (error: unknown) => {
        if (isUnknownChannel(error)) await tell('refused');
        throw error;
      });
      const { newVisibilityPolicy: automatic_new_visibility_policy } = decided;
      const rest = automatic_new_visibility_policy === undefined ? {} : { automatic_new_visibility_policy };
      const sent = await context.commit({ ...decided, answer: { named: 'id', rest } });
      if (decided.hasWebhooks) hint(dueNow);
      await tell('sent');
      return sent;
    }),
  ];
}
