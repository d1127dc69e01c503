import { badRequest, userOperations } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';

export function devFetchApiKeyHandlers(): Handlers {
  return [
    handleWrite(userOperations.devFetchApiKey, async () => {
      throw badRequest('Development environment authentication is not enabled.');
    }),
  ];
}
