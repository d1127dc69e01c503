import { realmOperations } from '@natter/contracts';
import { type Handlers, handle } from '@natter/service-kit';

export function checkSubdomainHandlers(): Handlers {
  return [
    handle(realmOperations.checkSubdomain, async () => ({
      msg: 'Subdomain already in use. Please choose a different one.',
    })),
  ];
}
