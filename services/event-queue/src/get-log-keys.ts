import { eventQueueOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { readLogKeys } from './read-log.ts';

export function getLogKeysHandlers({ database }: Owner): Handlers {
  return [
    handle(eventQueueOperations.getLogKeys, async () => {
      const keys = await readLogKeys(database);
      return { keys: keys.map(({ source, key }) => ({ source, key: key.toString('base64') })) };
    }),
  ];
}
