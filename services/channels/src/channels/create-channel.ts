import { ChatError, channelOperations, checkedChannelName } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { deciding, type Service } from '../model/deciding.ts';
import { checkedDescription } from '../model/descriptions.ts';
import { enter } from '../model/enter.ts';
import { principalsToAdd } from '../model/principals.ts';
import { renderedDescriptions } from '../model/rendered-descriptions.ts';
import { subscribe } from '../model/subscribe.ts';

export function createChannelHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.createChannel, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, [params.description]);
      return deciding(service, context, async (decision) => {
        const name = checkedChannelName(params.name);
        const description = checkedDescription(params.description);
        const [taken] = await enter(decision.work, [name]);
        if (taken)
          throw new ChatError('CHANNEL_ALREADY_EXISTS', `Channel '${name}' already exists`, { channel_name: name });
        const principals = params.subscribers.length === 0 ? [] : await principalsToAdd(decision, params.subscribers);
        const wanted = [{ name, description, html: htmlOf(description), color: undefined }];
        await subscribe(decision, wanted, principals, { configuration: params, refusesAll: true });
        const [created] = await enter(decision.work, [name]);
        if (!created) throw new Error('A channel vanished while it was created');
        return { id: created.channel.id };
      });
    }),
  ];
}
