import { badRequest, channelOperations } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { deciding, type Service } from '../model/deciding.ts';
import { renderedDescriptions } from '../model/rendered-descriptions.ts';
import { descriptionsOf, subscribe, wantedOf } from '../model/subscribe.ts';
import { unsubscribe } from './unsubscribe.ts';

export function changeSubscriptionsHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.changeSubscriptions, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, descriptionsOf(params.add));
      return deciding(service, context, async (decision) => {
        if (params.add.length === 0 && params.delete.length === 0)
          throw badRequest('Nothing to do. Specify at least one of "add" or "delete".');
        const own = [decision.actor.userId];
        const { subscribed, already_subscribed } =
          params.add.length === 0
            ? { subscribed: {}, already_subscribed: {} }
            : await subscribe(decision, wantedOf(params.add, htmlOf), own, { configuration: plain, refusesAll: true });
        const left = await unsubscribe(decision, params.delete, own);
        return { subscribed, already_subscribed, ...left };
      });
    }),
  ];
}

const plain = { announce: false, invite_only: false, is_web_public: false, is_default_stream: false } as const;
