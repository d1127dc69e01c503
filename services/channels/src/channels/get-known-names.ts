import { channelOperations } from '@natter/contracts';
import { type Handlers, handle } from '@natter/service-kit';
import { reading, type Service } from '../model/deciding.ts';
import { channelNamed, visibleChannels } from '../model/visible-channels.ts';

export function knownNamesHandlers(service: Service): Handlers {
  return [
    handle(channelOperations.getKnownNames, ({ actor, ...context }, { names }) => {
      if (!actor) throw new Error('Whether names are known depends on the actor');
      return reading(service, { ...context, actor }, async (database) => {
        const visible = await visibleChannels(database, actor, { holder: actor, withArchived: false });
        return { names: names.map((name) => channelNamed(visible, name).name) };
      });
    }),
  ];
}
