import { channelOperations } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { deciding, type Service } from '../model/deciding.ts';
import { principalsToAdd } from '../model/principals.ts';
import { renderedDescriptions } from '../model/rendered-descriptions.ts';
import { descriptionsOf, subscribe, wantedOf } from '../model/subscribe.ts';

export function subscribeHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.subscribe, async (context, params) => {
      const htmlOf = await renderedDescriptions(service, context.actor, descriptionsOf(params.subscriptions));
      return deciding(service, context, async (decision) => {
        const principals = await principalsToAdd(decision, params.principals);
        const { unauthorized, ...answer } = await subscribe(
          decision,
          wantedOf(params.subscriptions, htmlOf),
          principals,
          {
            configuration: params,
            refusesAll: params.authorization_errors_fatal,
          },
        );
        return { ...answer, ...(params.authorization_errors_fatal ? {} : { unauthorized }) };
      });
    }),
  ];
}
