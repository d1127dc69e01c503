import { channelOperations, userOperations } from '@natter/contracts';
import type { Work } from '@natter/database';
import { type Handlers, handle } from '@natter/service-kit';
import { plainConfiguration } from '../model/create-channels.ts';
import { deciding, type Service } from '../model/deciding.ts';
import { subscribe, wantedOf } from '../model/subscribe.ts';

export function createDefaultChannelsHandlers(service: Service): Handlers {
  const { bus, owner } = service;
  return [
    handle(channelOperations.createDefaultChannels, async (context, { user_id, names }) => {
      const { realmId } = context.meta;
      // The owner was created a moment ago: the directory must include them.
      let caughtUp = await owner.catchUp(realmId);
      while (!caughtUp.isComplete) caughtUp = await owner.catchUp(realmId);
      const meta = { ...context.meta, realmVersion: caughtUp.realmVersion };
      const actor = await bus.call(userOperations.describeActor, { user_id }, { meta });
      const wanted = wantedOf(
        names.map((name) => ({ name })),
        () => '',
      );
      const configuration = { ...plainConfiguration, is_default_stream: true };
      const write = <R>(decide: (work: Work) => Promise<R>): Promise<R> => owner.background(realmId, decide);
      const { attempt } = context;
      return deciding(service, { actor, meta, attempt, write }, async (decision) => {
        await subscribe(decision, wanted, [actor.userId], { configuration, refusesAll: true });
        return {};
      });
    }),
  ];
}
