import { badRequest, channelOperations } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { plainConfiguration } from '../model/create-channels.ts';
import { deciding, type Service } from '../model/deciding.ts';
import { lockNamed } from '../model/enter.ts';
import { renderedDescriptions } from '../model/rendered-descriptions.ts';
import { type Answer, descriptionsOf, subscribe, wantedOf } from '../model/subscribe.ts';
import { unsubscribe } from './unsubscribe.ts';

export function changeSubscriptionsHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.changeSubscriptions, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, descriptionsOf(params.add));
      return deciding(service, context, async (decision) => {
        if (params.add.length === 0 && params.delete.length === 0)
          throw badRequest('Nothing to do. Specify at least one of "add" or "delete".');
        const own = [decision.actor.userId];
        const wanted = wantedOf(params.add, htmlOf);
        const left = params.delete.map((name) => name.trim());
        await lockNamed(decision.work, [...wanted.map(({ name }) => name), ...left]);
        const { unauthorized: _, ...joined } =
          params.add.length === 0
            ? nothingJoined
            : await subscribe(decision, wanted, own, {
                configuration: plainConfiguration,
                refusesAll: true,
              });
        return { ...joined, ...(await unsubscribe(decision, left, own)) };
      });
    }),
  ];
}

const nothingJoined: Answer = {
  subscribed: {},
  already_subscribed: {},
  unauthorized: [],
  new_subscription_messages_sent: true,
};
